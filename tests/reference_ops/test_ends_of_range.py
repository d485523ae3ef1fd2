"""References of one tensor at the ends of f64's range: what mpmath has to 60 digits is right within our own bound."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from _exact_functions import EXACT
from mpmath import mp, mpf
from scipy import special

from opproof.cases import Case
from opproof.core.dtypes import DTYPES
from opproof.core.verdicts import Mode
from opproof.harness.judge.bound import C, compare
from opproof.harness.reference.expected import expect_forward, expect_vjp
from opproof.harness.reference.question import Question
from opproof.reference_ops import Trait, load, names

POINTS = 200  # numbers tried of each operator
F64 = DTYPES["f64"]
NEAR = 2**43  # numbers of f64 between two that are 0.1 to 0.2 % apart
#: Operators of one tensor without a formula of one number: they look at the place, or at the form of a number.
OTHERS = {
    "alibi", "bitwise_not", "cast", "contiguous", "count_leading_zeros", "diag_mask_inf", "diag_mask_zero", "fill",
    "isfinite", "isinf", "isnan", "logical_not", "nan_to_num", "popcount", "signbit", "tril", "triu",
}  # fmt: skip
#: Magnitudes at which squares, cubes and exponentials leave the range, or where sums lose one of their terms.
SIZES = (
    5e-324, 1e-323, 1e-310, 2.0**-1022, 1e-300, 1e-206, 1e-205, 1e-200, 1e-162, 1e-155, 1e-154, 1e-108, 1e-103,
    1e-54, 1e-17, 2.0**-53, 1e-15, 1e-9, 1e-8, 1e-5, 1e-3, 0.01, 0.1, 0.25, 0.49, 0.5, 0.7, 0.9, 1 - 2.0**-53,
    1.0, 1 + 2.0**-52, 1.1, 1.4616321449683623, 1.5, 1.9, 2.0, 2.5, 2.9, 3.0, 3.1, 4.5, 5.8, 6.0, 8.3, 12.0, 19.0,
    20.0, 21.0, 26.5, 30.3, 36.7, 38.6, 40.0, 90.0, 300.5, 354.9, 400.0, 700.0, 709.7, 709.782713, 710.4, 713.9,
    720.0, 740.0, 745.1, 750.0, 1023.5, 1e4, 1e5, 1e8, 94906265.6, 1e15, 2.0**53, 1e17, 1e30, 1e51, 1e102, 1e103,
    1e108, 1e150, 1e153, 1.3e154, 1.4e154, 1e160, 1e205, 1e206, 1e290, 8.9e307, 9e307, 1.7e308, F64.max,
)  # fmt: skip


def number(of, x, params, times=1.0):
    """`of(x)` times a number as one of f64, infinite beyond the range; None where it is not defined, or not real."""
    try:
        y = of(mpf(x), **params)
    except (ValueError, ZeroDivisionError):  # a pole
        return None
    return None if isinstance(y, mp.mpc) or mp.isnan(y) else float(y * mpf(times))


def end_of(y):
    """On which side of the ends of the range a value lies."""
    if y is None or np.isinf(y):
        return y
    return "zero" if y == 0 else "subnormal" if abs(y) < F64.tiny else "normal"


def edges(of, params):
    """Pairs of neighbouring numbers between which the value passes an end of the range, and others a little apart."""
    tried = sorted((*SIZES, *(-s for s in SIZES)))
    ends = [end_of(number(of, x, params)) for x in tried]
    for (a, b), (at_a, at_b) in zip(itertools.pairwise(tried), itertools.pairwise(ends), strict=True):
        if at_a == at_b or None in (at_a, at_b):
            continue
        low, high = (place(x) for x in (a, b))
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if end_of(number(of, at(middle), params)) == at_a else (low, middle)
        yield from map(at, (low, high, low - NEAR, high + NEAR))


def place(x):
    """The numbers of f64 counted from 0."""
    bits = int(np.abs(np.float64(x)).view(np.int64))
    return bits if x >= 0 else -bits


def at(place):
    """The number of f64 at a place."""
    size = float(np.int64(abs(place)).view(np.float64))
    return size if place >= 0 else -size


def points(exact, params):
    """POINTS numbers where the function is defined: those beside an end of the range first."""
    beside = [x for of in (exact.value, exact.slope) for x in edges(of, params)]
    draws = np.random.default_rng(1)
    sizes = [s * x for x in SIZES for s in (1, -1)]
    drawn = (draws.uniform(-1, 1, 200), draws.uniform(0, 99, 200), 2.0 ** draws.uniform(-1074, 1024, 200))
    tried = dict.fromkeys([0.0, *beside, *sizes, *(float(x) for some in drawn for x in some)])
    defined = ((x, number(exact.value, x, params)) for x in tried)
    return zip(*itertools.islice((pair for pair in defined if pair[1] is not None), POINTS), strict=True)


def judged(name, params, mode):
    """Numbers, what is right, what the reference has, and which of them are within the bound."""
    op, exact = load(name), EXACT[name]
    x, right = map(np.array, points(exact, params))
    g = np.where(np.arange(x.size) % 2, -1.0, 1.0)
    if mode is Mode.GRADIENT:
        known = np.isfinite(right)  # elsewhere what is saved for a gradient is infinite
        slopes = [number(exact.slope, v, params, by) for v, by in zip(x, g, strict=True)]
        known &= np.array([s is not None for s in slopes])
        if op.kinks is not None:
            known &= op.kinks(x, **{**op.params, **params}) != 0
        x, g, right = x[known], g[known], np.array(slopes, dtype=np.float64)[known]
    given = "".join(f"{k}={v};" for k, v in params.items())
    case = Case.parse(f"{name}[x={x.size},;{given}f64]")
    posed = Question(case, op, mode, ("x",), (x,), (g,) if mode is Mode.GRADIENT else (), (True,))
    (expected,) = expect_forward(posed) if mode is Mode.FORWARD else expect_vjp(posed)
    passed = compare(right, expected, "f64").passed
    # The last number before infinity may be infinite by one rounding.
    passed |= (expected.values == np.sign(right) * np.inf) & (np.abs(right) > F64.max * (1 - C * F64.u))
    return x, right, expected.values, passed


#: Where no noisy run stays in the domain, so that none says what the rounding of a saved output costs: 2 y² roundoffs.
BESIDE_THE_END = {("erfinv", Mode.GRADIENT): (1 - 2.0**-53, 70 * F64.u)}


def wrong(name, params, mode):
    """What of the reference is wrong: the number, what is right, and what it has."""
    x, right, found, passed = judged(name, params, mode)
    last, allowed = BESIDE_THE_END.get((name, mode), (None, 0.0))
    near = np.abs(found - right) <= allowed * np.abs(right)
    passed = passed | (near & (np.abs(x) == last) if last else False)
    return [tuple(map(float, row)) for row in zip(x[~passed], right[~passed], found[~passed], strict=True)]


@pytest.mark.parametrize("mode", [Mode.FORWARD, Mode.GRADIENT], ids=str)
@pytest.mark.parametrize("name", EXACT)
def test_what_is_right_is_within_the_bound_at_the_ends_of_f64(name, mode):
    with np.errstate(all="ignore"):
        assert [row for params in EXACT[name].params for row in wrong(name, params, mode)] == []


def test_every_operator_of_one_number_is_looked_at():
    of_one = {op.name for op in map(load, names()) if Trait.POINTWISE in op.traits and len(op.tensors) == 1}
    assert of_one == {*EXACT, *OTHERS}


@pytest.mark.parametrize(
    ("name", "x", "value", "slope"),
    [
        ("i0", 709.782713, 2.692399497477202e306, 2.6905021920727598e306),
        ("i0", -713.9, 1.6481551866951379e308, -1.6470004499232343e308),
        ("lgamma", 5e-324, 744.4400719213812, -np.inf),
        ("lgamma", 2.5599e305, 1.79763453634738e308, 703.2284215584125),
        ("digamma", -1 + 2.0**-53, -9007199254740992.0, 2.0**106),
        ("digamma", -1e9 - 0.5, 20.72326583794641, 9.869604400089358),
        ("hardswish", 1e308, 1e308, 1.0),
        ("gelu_quick", -1.7e308, 0.0, 0.0),
    ],
)
def test_values_that_were_wrong(name, x, value, slope):
    op, x = load(name), np.array([x])
    with np.errstate(all="ignore"):
        y = op.forward(x)
        found = op.vjp(np.ones(1), y, x)
    np.testing.assert_allclose(y, value, rtol=1e-13)
    np.testing.assert_allclose(found, slope, rtol=1e-13)


@pytest.mark.parametrize(
    ("name", "mode", "part", "fault"),
    [
        ("i0", Mode.FORWARD, "forward", special.i0),  # infinite from 709.8 on
        ("lgamma", Mode.FORWARD, "forward", special.gammaln),
        ("rsqrt", Mode.GRADIENT, "vjp", lambda g, y, x: -0.5 * g * (y * y * y)),
        ("sinh", Mode.FORWARD, "forward", lambda x: np.sinh(x) * np.where(np.abs(x) > 710, 1 + 1e-12, 1)),
        ("tanh", Mode.FORWARD, "forward", lambda x: np.where(np.abs(x) < 1e-300, 0.0, np.tanh(x))),
    ],
)
def test_a_reference_that_is_wrong_at_an_end_is_found(monkeypatch, name, mode, part, fault):
    monkeypatch.setitem(globals(), "load", lambda name, load=load: replace(load(name), **{part: fault}))
    with np.errstate(all="ignore"):
        assert wrong(name, {}, mode)
