"""The rules of comparison, each with a value that passes and one that fails."""

import numpy as np
import pytest

from opproof.core.dtypes import DTYPES, round_to
from opproof.harness.judge.bound import C, compare, floor_of, is_clearly_wrong
from opproof.harness.reference.question import Expected

NAN, INF = float("nan"), float("inf")
F32, F16, BF16 = (DTYPES[d] for d in ("f32", "f16", "bf16"))


def judged(got, expected, dtype="f32", scale=0.0, *, exact=False, strict=False, **facts):
    """The comparison of one element."""
    want = Expected(np.array([expected], np.float64), np.array([scale], np.float64), exact, **facts)
    stored = np.array([got]).astype(DTYPES[dtype].numpy)
    return compare(stored, want, dtype, strict_subnormals=strict)


RULES = {
    "within C units": (1 + 16 * F32.u, 1.0, {}, True),
    "beyond C units": (1 + 18 * F32.u, 1.0, {}, False),
    "below by C units": (1 - 16 * F32.u, 1.0, {}, True),
    "below by more": (1 - 17 * F32.u, 1.0, {}, False),
    "the scale gives room": (1 + 32 * F32.u, 1.0, {"scale": 1.0}, True),
    "and no more": (1 + 34 * F32.u, 1.0, {"scale": 1.0}, False),
    "f16 has its own u": (1 + 16 * F16.u, 1.0, {"dtype": "f16"}, True),
    "which is not wider": (1 + 18 * F16.u, 1.0, {"dtype": "f16"}, False),
    "bf16 too": (1 + 16 * BF16.u, 1.0, {"dtype": "bf16"}, True),
    "and not wider": (1 + 18 * BF16.u, 1.0, {"dtype": "bf16"}, False),
    "f64": (1 + 16 * 2.0**-53, 1.0, {"dtype": "f64"}, True),
    "not f32 in f64": (1 + 2.0**-24, 1.0, {"dtype": "f64"}, False),
    "nothing rounds it": (3.0, 3.0, {"dtype": "bf16", "faithful": True, "held": True}, True),
    "its neighbour": (3 - 2.0**-6, 3.0, {"dtype": "bf16", "faithful": True, "held": True}, False),
    "its neighbour, where something rounds": (3 - 2.0**-6, 3.0, {"dtype": "bf16", "faithful": True}, True),
    "its neighbour, of a scale": (
        3 - 2.0**-6,
        3.0,
        {"dtype": "bf16", "faithful": True, "held": True, "scale": 1e-9},
        True,
    ),
    "either neighbour of no number": (
        3 - 2.0**-6,
        3 - 2.0**-7,
        {"dtype": "bf16", "faithful": True, "held": True},
        True,
    ),
    "a saved output": (1 + 4 * BF16.u, 1.0, {"dtype": "bf16", "scale": 0.577, "faithful": True, "each": True}, True),
    "and no more of it": (
        1 + 6 * BF16.u,
        1.0,
        {"dtype": "bf16", "scale": 0.577, "faithful": True, "each": True},
        False,
    ),
    "of sums, more": (1 + 6 * BF16.u, 1.0, {"dtype": "bf16", "scale": 0.577, "faithful": True}, True),
    "a saved output, twice its size of the scale": (
        1 + 44 * BF16.u,
        1.0,
        {"dtype": "bf16", "scale": 4.0, "faithful": True, "each": True},
        True,
    ),
    "and no more than that": (
        1 + 46 * BF16.u,
        1.0,
        {"dtype": "bf16", "scale": 4.0, "faithful": True, "each": True},
        False,
    ),
    "of a precise one, more": (1 + 20 * F32.u, 1.0, {"scale": 0.577, "each": True}, True),
    "NaN meets NaN": (NAN, NAN, {}, True),
    "NaN for a number": (NAN, 1.0, {"scale": 1e30}, False),
    "NaN for infinity": (NAN, INF, {}, False),
    "a number for NaN": (1.0, NAN, {}, False),
    "zero for NaN": (0.0, NAN, {}, False),
    "infinity for NaN": (INF, NAN, {}, False),
    "infinity meets infinity": (INF, INF, {}, True),
    "the other infinity": (-INF, INF, {}, False),
    "a number for infinity": (F32.max, INF, {}, False),
    "infinity for a number": (INF, 1.0, {"scale": 1e6}, False),
    "overflow": (INF, 70000.0, {"dtype": "f16"}, True),
    "negative overflow": (-INF, -70000.0, {"dtype": "f16"}, True),
    "overflow of the wrong sign": (-INF, 70000.0, {"dtype": "f16"}, False),
    "saturation": (65504.0, 75000.0, {"dtype": "f16"}, False),
    "overflow within the bound": (INF, 65504.0, {"dtype": "f16"}, True),
    "overflow too early": (INF, 60000.0, {"dtype": "f16"}, False),
    "the largest number": (65504.0, 65504.0, {"dtype": "f16"}, True),
    "f32 overflow": (INF, 1e39, {}, True),
    "f32 saturation": (F32.max, 1e39, {}, False),
    "negative zero": (-0.0, 0.0, {"exact": True}, True),
    "positive zero": (0.0, -0.0, {"exact": True}, True),
    "flushed": (0.0, 1e-40, {}, True),
    "flushed f16": (0.0, 3e-6, {"dtype": "f16"}, True),
    "flushed, strictly": (0.0, 1e-40, {"strict": True}, False),
    "flushed f16, strictly": (0.0, 3e-6, {"dtype": "f16", "strict": True}, False),
    "subnormal, strictly": (1e-40, 1e-40, {"strict": True}, True),
    "subnormal one step off": (1e-40 + F32.subnormal, 1e-40, {"strict": True}, True),
    "subnormal ten steps off": (1e-40 + 10 * F32.subnormal, 1e-40, {}, False),
    "zero for a normal number": (0.0, 2.4e-38, {}, False),
    "zero for one of the smallest": (0.0, 2.3e-38, {}, True),
    "zero for one of the smallest, strictly": (0.0, 2.3e-38, {"strict": True}, False),
    "zero for one of the smallest in f16": (0.0, 1e-4, {"dtype": "f16"}, False),
    "subnormal for zero": (1e-40, 0.0, {}, True),
    "subnormal for zero, strictly": (1e-40, 0.0, {"strict": True}, False),
    "subnormal for zero in f16": (1e-5, 0.0, {"dtype": "f16"}, False),
    "subnormal for zero, exact": (1e-40, 0.0, {"exact": True}, True),
    "a normal number for zero": (2e-38, 0.0, {}, False),
    "stored once": (1 + 2 * BF16.u, 1.0, {"dtype": "bf16", "faithful": True}, True),
    "stored wrong": (1 + 4 * BF16.u, 1.0, {"dtype": "bf16", "faithful": True}, False),
    "stored once, of a scale": (1 + 16 * F16.u, 1.0, {"dtype": "f16", "faithful": True, "scale": 1.0}, True),
    "stored wrong, of a scale": (1 + 20 * F16.u, 1.0, {"dtype": "f16", "faithful": True, "scale": 1.0}, False),
    "sign of a small number": (-1e-37, 1e-37, {}, False),
    "exact": (7.0, 7.0, {"exact": True}, True),
    "exact, one bit off": (7.0 + 4 * F32.u * 2, 7.0, {"exact": True}, False),
    "exact after rounding": (256.0, 257.0, {"dtype": "bf16", "exact": True}, True),
    "rounded the other way": (258.0, 257.0, {"dtype": "bf16", "exact": True}, False),
    "exact overflow": (INF, 70000.0, {"dtype": "f16", "exact": True}, True),
    "exact, no early overflow": (INF, 65504.0, {"dtype": "f16", "exact": True}, False),
    "exact, flushed": (0.0, 1e-40, {"exact": True}, True),
    "exact, strictly not": (0.0, 1e-40, {"exact": True, "strict": True}, False),
    "exact NaN": (NAN, NAN, {"exact": True}, True),
    "no scale that is NaN": (1.0, 1.0 + 2.0**-20, {"scale": NAN}, False),
}


@pytest.mark.parametrize("rule", RULES)
def test_rule(rule):
    got, expected, options, passes = RULES[rule]
    found = judged(got, expected, **options)
    assert bool(found.passed[0]) is passes
    assert np.isfinite(found.bound[0])
    assert bool(found.shares[0] <= 1) is passes  # units and verdict never disagree, nor are they NaN
    assert bool(found.units[0] <= found.limit[0]) is passes
    assert not np.isnan(found.units[0])


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_error_fails_somewhere(dtype):
    """No rule of one dtype swallows another's errors: 64 units fail for every magnitude above the subnormals."""
    kind = DTYPES[dtype]
    x = 2.0 ** np.arange(kind.min_exponent + 8, kind.max_exponent - 2)
    want = Expected(x, np.zeros_like(x))
    wrong = compare((x * (1 + 64 * kind.u)).astype(kind.numpy), want, dtype)
    right = compare((x * (1 + 2 * kind.u)).astype(kind.numpy), want, dtype)
    assert right.passed.all()
    assert not wrong.passed.any()
    np.testing.assert_allclose(wrong.units, 64, rtol=0.2)


@pytest.mark.parametrize("dtype", DTYPES)
def test_floor_excuses_no_normal_number(dtype):
    """A few subnormal steps; bf16, computed in float32, may lose what is subnormal there."""
    kind = DTYPES[dtype]
    assert kind.subnormal <= floor_of(kind) < 1.01 * kind.tiny
    if dtype != "bf16":
        assert floor_of(kind) < 4 * kind.subnormal
    assert kind.subnormal <= floor_of(kind, strict=True) < 4 * kind.subnormal


@pytest.mark.parametrize("kind", [np.int64, np.bool_])
def test_integers_and_booleans_are_exact(kind):
    want = Expected(np.array([1, 0, 1]).astype(kind), np.zeros(3))
    assert compare(np.array([1, 0, 1]).astype(kind), want, "f16").passed.all()
    found = compare(np.array([1, 1, 1]).astype(kind), want, "f16")
    assert found.passed.tolist() == [True, False, True]
    assert found.units.tolist() == [0, INF, 0]


def test_large_integers_are_not_compared_as_floats():
    want = Expected(np.array([2**53 + 1]), np.zeros(1))
    assert not compare(np.array([2**53]), want, "f32").passed[0]


def test_units_are_the_error_in_roundings():
    assert judged(1 + 4 * F32.u, 1.0).units[0] == pytest.approx(4)
    assert judged(1 + 4 * F32.u, 1.0, scale=3.0).units[0] == pytest.approx(1)
    assert judged(1 + 160 * F32.u, 1.0).units[0] == pytest.approx(160)
    assert judged(7.1, 7.0, exact=True).units[0] > C


def test_worst_is_a_failing_element_where_there_is_one():
    want = Expected(np.ones((2, 3)), np.zeros((2, 3)))
    got = np.ones((2, 3), np.float32)
    got[0, 1] += np.float32(8 * F32.u)
    assert compare(got, want, "f32").worst == (0, 1)
    got[1, 2] = np.nan
    assert compare(got, want, "f32").worst == (1, 2)
    got[1, 0] = 2
    assert compare(got, want, "f32").worst in ((1, 0), (1, 2))
    assert compare(np.ones((0, 3), np.float32), Expected(np.ones((0, 3)), np.ones((0, 3))), "f32").worst is None


def test_rounding_to_a_dtype():
    assert round_to(np.array([257.0, 259.0]), BF16).tolist() == [256, 260]
    assert round_to(np.array([65519.9, 65520.0]), F16).tolist() == [65504, INF]
    assert round_to(np.array([1e-300]), F32).tolist() == [0]


@pytest.mark.parametrize("rule", RULES)
def test_what_is_far_off_never_passes(rule):
    got, expected, options, passes = RULES[rule]
    options = {name: value for name, value in options.items() if name != "strict"}
    kind = options.pop("dtype", "f32")
    want = Expected(
        np.array([expected], np.float64),
        np.array([options.get("scale", 0.0)], np.float64),
        options.get("exact", False),
        options.get("faithful", False),
    )
    assert not (passes and is_clearly_wrong(np.array([got]).astype(DTYPES[kind].numpy), want, kind))


def test_far_off_sees_what_is_plainly_wrong():
    want = Expected(np.array([1.0, 2.0]), np.zeros(2))
    assert is_clearly_wrong(np.array([1.0, 2.1], np.float32), want, "f32")
    assert not is_clearly_wrong(np.array([1.0, 2.0], np.float32), want, "f32")
    assert is_clearly_wrong(np.array([1, 3]), Expected(np.array([1, 2]), np.zeros(2)), "f32")
