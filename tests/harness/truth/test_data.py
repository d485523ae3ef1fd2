"""Data of cases: they depend on the id alone, obey their fill, and keep off kinks or sit on them."""

import hashlib

import numpy as np
import pytest

from opproof.cases import Case, cases_of
from opproof.cases._data import FILLS, REPORTS, draw_tensor, is_on_kinks
from opproof.cases._registry import all_names
from opproof.harness.truth import reference
from opproof.harness.truth.data import (
    MARGIN,
    arguments,
    cotangents_of,
    distances,
    inputs_of,
    ordered,
    parameters,
    to_dtype,
)
from opproof.harness.truth.posed import pose
from opproof.reference_ops import load
from opproof.vocabulary.dtypes import DTYPES, round_to
from opproof.vocabulary.errors import CaseError
from opproof.vocabulary.modes import Mode

pytestmark = pytest.mark.filterwarnings("ignore:(Mean of empty slice|Degrees of freedom):RuntimeWarning")

#: sha256, the first 16 digits, of the bytes of each tensor in its own dtype and of a cotangent of shape (3, 5).
GOLDEN = {
    "add[a=7x33;b=33,;f32]": ("3cf9f41b111543b3", "02f3466e9a957be6", "47a3784679148fc7"),
    "softmax[x=4x33;dim=-1;f64;fill=wide]": ("f1a9a6c7270a5b93", "757b205be3f041a5"),
    "sigmoid[x=33,;bf16;fill=extreme]": ("d057f8b100f9b485", "2409faff7416722e"),
    "relu[x=4x33;f16;fill=kink]": ("afabf355664b9cbc", "17763287c79e136e"),
    "matmul[a=7x13;b=13x9;f32;fill=exact]": ("24381d705fce4887", "7722aae7acc17709", "a667d62b172fe07f"),
    "log[x=5x7;f32;seed=3]": ("9f657a3ae8a09a28", "5b7abec113cc45e2"),
    "cross_entropy[x=5x9;target=5,;f32]": ("1f42bc09b53c3063", "6c7a623ad97f6059", "fe8ec1c6ecffbc2d"),
    "exp[x=66,;f32;fill=special]": ("c070b121cb1b5fb9", "f1ec5798cb7d30cc"),
}

#: Operators whose kinks can lie nearer to each other than the margin, or are those of a tensor that is not moved.
CROWDED = {
    "floor_divide": "kinks lie |b| apart",
    "fmod": "kinks lie |b| apart",
    "remainder": "kinks lie |b| apart",
    "argsort": "every two elements of a row",
    "sort": "every two elements of a row",
    "topk": "every two elements of a row",
    "swiglu_oai": "the gate has kinks of its own, and only the first tensor is moved",
}

#: Operators with kinks that no float reaches, or that are of no consequence.
UNREACHED = {
    "tan": "its poles are irrational",
    "l2_norm": "rows of zeros: no row of a case is all zeros",
    "topk": "which of several equal elements is taken is undefined",
}


def values(case, seed=0, variant=0):
    """Input arrays by name."""
    return inputs_of(case.with_seed(seed) if seed else case, load(case.op), variant)


def digest(array, dtype):
    return hashlib.sha256(to_dtype(array, dtype).tobytes()).hexdigest()[:16]


@pytest.mark.parametrize("text", GOLDEN)
def test_data_are_those_of_every_machine(text):
    case = Case.parse(text)
    arrays = [*values(case).values(), *cotangents_of(case, [np.zeros((3, 5))])]
    assert tuple(digest(a, case.dtype) for a in arrays) == GOLDEN[text]


def test_data_depend_on_nothing_else():
    case = Case.parse("add[a=7x33;b=33,;f32]")
    before = [v.tobytes() for v in values(case).values()]
    np.random.seed(1)  # noqa: NPY002 - the state that must not matter
    values(Case.parse("add[a=7x33;b=33,;f16]"))
    assert [v.tobytes() for v in values(case).values()] == before


@pytest.mark.parametrize("name", all_names())
def test_another_seed_or_variant_changes_every_tensor(name):
    for case in cases_of(name, "smoke"):
        first, seeded, other = values(case), values(case, seed=7), values(case, variant=1)
        for tensor, v in first.items():
            if v.size >= 5 and case.fill not in REPORTS and np.ptp(v) > 0:
                assert not np.array_equal(v, seeded[tensor]), (str(case), tensor)
                assert not np.array_equal(v, other[tensor]), (str(case), tensor)


def test_tensors_of_a_case_differ_and_aliases_do_not():
    found = values(Case.parse("add[a=5x17;b=5x17;f32]"))
    assert not np.array_equal(found["a"], found["b"])
    alias = values(Case.parse("add[a=5x17;b=@a;f32]"))
    assert alias["a"] is alias["b"]


def test_cotangents_are_of_floats():
    outputs = [np.zeros((3, 5)), np.zeros((3, 5), np.int64), np.zeros((), bool), np.zeros(2)]
    found = cotangents_of(Case.parse("add[a=7x33;b=33,;f32]"), outputs)
    assert [None if g is None else g.shape for g in found] == [(3, 5), None, None, (2,)]


def test_absent_arguments_keep_their_places():
    case = Case.parse("softmax_ext[x=3x4;sinks=3,;scale=1.0;max_bias=0.0;f32]")
    assert arguments(case, load("softmax_ext")) == ["x", None, "sinks", None]
    assert arguments(Case.parse("concat[a=3x4;b=3x4;dim=0;f32]"), load("concat")) == ["a", "b"]


@pytest.mark.parametrize("name", all_names())
def test_cotangents_are_never_trivial(name):
    """Zeros, ones and constants hide a gradient that ignores the cotangent; so do equal rows."""
    op = load(name)
    for case in cases_of(name):
        if op.vjp is None or (case.fill not in ("exact", "signs") and case.dtype != "bf16"):
            continue
        for g in pose(case, op, Mode.GRADIENT).asked.cotangents:
            if g is None or not g.size:
                continue
            assert np.ptp(g) > 0 or (g.size == 1 and g.flat[0] not in (0, 1)), str(case)
            assert np.array_equal(g, round_to(g, DTYPES[case.dtype])), str(case)
            if g.ndim > 1 and g.shape[0] > 1 and g[0].size > 4:
                assert np.ptp(g, axis=0).max() > 0, str(case)


#: Evaluated with |a| and |b| a difference bounds nothing, so its terms are added.
SUMMED = {"sub": "add"}


@pytest.mark.parametrize("name", all_names())
def test_exact_fills_are_exact(name):
    """Sums of absolute values stay within 2^p, p the digits of the dtype: no order of summation rounds."""
    op, bound = load(name), load(SUMMED.get(name, name))
    for case in cases_of(name, "full"):
        if not op.multilinear or case.fill not in ("exact", "signs"):
            continue
        largest = 2.0 ** DTYPES[case.dtype].digits
        inputs = [np.abs(v) if v is not None and v.dtype.kind == "f" else v for v in ordered(case, op, values(case))]
        params = parameters(case, op)
        outputs = reference.forward(bound, inputs, params)
        assert all(np.max(np.abs(y), initial=0) <= largest for y in outputs), str(case)
        assert all(np.array_equal(y, np.rint(y)) for y in outputs), str(case)
        if op.vjp is not None:
            cotangents = [None if g is None else np.abs(g) for g in cotangents_of(case, outputs)]
            found = reference.vjp(bound, inputs, params, cotangents, outputs)
            assert all(np.max(np.abs(d), initial=0) <= largest for d in found if d is not None), str(case)


def test_exactness_is_refused_where_it_does_not_hold():
    """The check above fails for a sum too long for bf16."""
    op, case = load("dot"), Case.parse("dot[a=4099,;b=4099,;bf16;fill=exact]")
    inputs = [np.abs(v) for v in ordered(case, op, values(case))]
    assert np.max(reference.forward(op, inputs, parameters(case, op))[0]) > 2.0 ** DTYPES["bf16"].digits


@pytest.mark.parametrize("name", [n for n in all_names() if load(n).kinks is not None])
def test_kinks(name):
    """Ordinary fills keep their margin from kinks; `fill=kink` sits on one, exactly."""
    op, reached = load(name), False
    for case in cases_of(name):
        found = values(case)
        first = found[case.tensors[0][0]]
        if not first.size:
            continue
        distance = distances(case, op, found)
        on = bool((distance == 0).any())
        reached |= on
        if case.fill == "kink":
            assert on, str(case)
        elif not is_on_kinks(case.fill) and name not in CROWDED and not _has_no_choice(case):
            assert distance.min() >= MARGIN * min(1, np.abs(first).max()), str(case)
    assert reached or name in UNREACHED


def _has_no_choice(case):
    """Whether an element meets several others, so that no value of it need keep its distance from all, or none."""
    first, *others = (np.prod(s, dtype=int) for s in case.shapes.values())
    return "broadcast" in case.layout or any(n > first for n in others) or 1 in case.shapes[case.tensors[0][0]]


BITS_SHAPE = (64, 33)


def fill(name, dtype="f32", constraint=None):
    case = Case.parse(f"op[x=64x33;{dtype};fill={name}]")
    return draw_tensor(case, "x", BITS_SHAPE, constraint, "variant=0")


def test_every_fill_is_what_it_says():
    spread = {"normal": (0, 1.15), "wide": (0, 6.9), "offset": (10, 1.15), "small": (0, 1.15 / 1024)}
    for name, (mean, deviation) in spread.items():
        x = fill(name, "f64")
        assert abs(x.mean() - mean) < deviation / 10
        assert abs(x.std() / deviation - 1) < 0.05
    assert 0.4 < np.mean(np.abs(fill("mixed")) < 2**-8) < 0.6
    assert fill("positive").min() >= 2**-4
    assert fill("negative").max() <= -(2**-4)
    assert np.abs(fill("extreme")).max() > 5e6
    assert np.isfinite(fill("extreme", "f16")).all()
    special = fill("special")
    assert np.isnan(special).any()
    assert {np.inf, -np.inf, 0.0} <= set(special.flat)
    assert np.signbit(special[special == 0]).any()
    assert 0.4 < np.mean(fill("zeros") == 0) < 0.6
    assert set(fill("ties").flat) == {-1, -0.5, 0, 0.5, 1}
    assert set(fill("halves").flat) == set(np.arange(-12, 13) / 2)
    assert np.ptp(fill("constant"), axis=1).max() == 0
    assert np.ptp(fill("constant"), axis=0).min() > 0
    assert set(fill("exact").flat) == {-3, -2, -1, 0, 1, 2, 3}
    assert set(fill("signs").flat) == {-1, 0, 1}
    assert 0 < np.abs(fill("subnormal")).max() < 4 * DTYPES["f32"].tiny
    assert 0.4 < np.mean(fill("tiny") == 0) < 0.6
    assert 0 < np.abs(fill("tiny")).max() < 2**10 * DTYPES["f32"].tiny
    assert np.abs(np.abs(fill("close")) - 1).max() == 2 * DTYPES["f32"].u
    assert len(set(fill("close").flat)) == 6
    assert set(FILLS) - set(spread) == {
        *("positive", "negative", "extreme", "special", "zeros", "ties", "halves", "constant", "kink"),
        *("exact", "signs", "subnormal", "tiny", "close", "mixed"),
    }


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [f for f in FILLS if f != "special"])
def test_fills_are_rounded_to_the_dtype(name, dtype):
    x = fill(name, dtype)
    np.testing.assert_array_equal(x, to_dtype(x, dtype).astype(np.float64))
    assert np.isfinite(x).all()


def test_reports_pin_their_values():
    x = values(Case.parse("sigmoid[x=15,;f64;fill=candle-2114]"))["x"]
    half = [548.3162, 201.7132, 74.2032, 27.2899, 10.0179, 3.6269, 1.1752]
    assert x.tolist() == [*(-v for v in half), 0, *reversed(half)]


def test_domains():
    assert fill("normal", constraint=(0.0, np.inf)).min() > 0
    assert fill("wide", constraint=(-np.inf, -1.0)).max() < -1
    bounded = fill("wide", constraint=(-1.0, 1.0))
    assert -1 < bounded.min() < -0.5 < 0.5 < bounded.max() < 1
    assert np.abs(fill("zeros", constraint="nonzero")).min() >= 2**-4
    indices = fill("normal", constraint=range(5))
    assert indices.dtype == np.int64
    assert set(indices.flat) == set(range(5))


def test_unknown_fill():
    with pytest.raises(CaseError, match=r"^unknown fill 'wid' in relu\[x=3,;f32;fill=wid\]: expected one of normal, "):
        values(Case.parse("relu[x=3,;f32;fill=wid]"))
