"""Data of cases: they depend on the id alone, obey their fill, and keep off kinks or sit on them."""

import dataclasses
import hashlib

import numpy as np
import pytest
from _deep import few

from opproof.cases import Case, cases_of
from opproof.cases._fills.fills import FILLS, HIDDEN, NOT_FINITE, REPORTS, is_on_kinks
from opproof.cases._fills.limits import BRANCHES
from opproof.cases._fills.random_bits import bits_of
from opproof.cases._fills.tensors import draw_cotangent, draw_tensor
from opproof.cases._registry import all_names, listed_cases
from opproof.core.dtypes import DTYPES, FLOATS, round_to
from opproof.core.errors import CaseError
from opproof.core.verdicts import Mode
from opproof.harness.reference.chunks.question import make_stored_question
from opproof.harness.reference.data import (
    MIN_KINK_DISTANCE,
    cotangents_of,
    fill_parameters,
    inputs_of,
    list_arguments,
    measure_kink_distances,
    order_arguments,
    to_dtype,
)
from opproof.harness.reference.question import evaluate_forward, evaluate_vjp, make_question
from opproof.reference_ops import load

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
    "dynamic_quantize_linear": "kinks lie one code apart, of 255 in the range",
    "fmod": "kinks lie |b| apart",
    "remainder": "kinks lie |b| apart",
    "argsort": "every two elements of a row",
    "sort": "every two elements of a row",
    "topk": "every two elements of a row",
    "cummax": "every two elements of a row",
    "adaptive_max_pool3d": "every two elements of a part, of which there are hundreds",
    "lightning_indexer": "every product of a query with a key",
    "cummin": "every two elements of a row",
    "scatter_reduce": "every two elements of a place",
    "topk_moe": "every two elements of a row",
    "cdist": "of a matrix from itself, rows at no distance",
    "embedding_bag": "a row may stand in a bag twice",
    "quantize_linear": "kinks lie half a step apart",
    "swiglu_oai": "the gate has kinks of its own, and only the first tensor is moved",
}

#: Operators with kinks that no float reaches, or that are of no consequence.
UNREACHED = {
    "lightning_indexer": "at 0 itself the slope is 0, as everywhere",
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
    assert list_arguments(case, load("softmax_ext")) == ["x", None, "sinks", None]
    assert list_arguments(Case.parse("concat[a=3x4;b=3x4;dim=0;f32]"), load("concat")) == ["a", "b"]


@pytest.mark.parametrize("every", few([4, 1]))
@pytest.mark.parametrize("name", all_names())
def test_cotangents_are_never_trivial(name, every):
    """Zeros, ones and constants hide a gradient that ignores the cotangent; so do equal rows."""
    op = load(name)
    asked = [] if op.vjp is None else [c for c in cases_of(name) if c.fill in ("exact", "signs") or c.dtype == "bf16"]
    for case in asked[::every]:
        for g in make_question(case, op, Mode.GRADIENT).case_data.cotangents:
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
        inputs = [
            np.abs(v) if v is not None and v.dtype.kind == "f" else v for v in order_arguments(case, op, values(case))
        ]
        params = fill_parameters(case, op)
        outputs = evaluate_forward(bound, inputs, params)
        assert all(np.max(np.abs(y), initial=0) <= largest for y in outputs), str(case)
        assert all(np.array_equal(y, np.rint(y)) for y in outputs), str(case)
        if op.vjp is not None:
            cotangents = [None if g is None else np.abs(g) for g in cotangents_of(case, outputs)]
            found = evaluate_vjp(bound, inputs, params, cotangents, outputs)
            assert all(np.max(np.abs(d), initial=0) <= largest for d in found if d is not None), str(case)


def test_exactness_is_refused_where_it_does_not_hold():
    """The check above fails for a sum too long for bf16."""
    op, case = load("dot"), Case.parse("dot[a=4099,;b=4099,;bf16;fill=exact]")
    inputs = [np.abs(v) for v in order_arguments(case, op, values(case))]
    assert np.max(evaluate_forward(op, inputs, fill_parameters(case, op))[0]) > 2.0 ** DTYPES["bf16"].digits


@pytest.mark.parametrize("name", [n for n in all_names() if load(n).kinks is not None])
def test_kinks(name):
    """Ordinary fills keep their margin from kinks; `fill=kink` sits on one, exactly."""
    op, reached, rows = load(name), False, {*listed_cases(name)}
    for case in cases_of(name):
        found = values(case)
        first = found[case.tensors[0][0]]
        if not first.size or case.dtype not in FLOATS:  # of others no gradient is asked for
            continue
        distance = measure_kink_distances(case, op, found)
        on = bool((distance == 0).any())
        reached |= on
        if case.fill == "kink":
            assert on or case not in rows, str(case)
        elif not is_on_kinks(case.fill) and name not in CROWDED and not _has_no_choice(case):
            assert distance.min() >= MIN_KINK_DISTANCE * min(1, np.abs(first).max()), str(case)
    assert reached or name in UNREACHED


def _has_no_choice(case):
    """Whether an element meets several others, so that no value of it need keep its distance from all, or none.

    Of 65,537 draws two lie together at the end of the row, however often they are drawn.
    """
    first, *others = (np.prod(s, dtype=int) for s in case.shapes.values())
    long = max(case.shapes[case.tensors[0][0]], default=0) > 2**16
    alone = any(n > first for n in others) or 1 in case.shapes[case.tensors[0][0]]
    return long or alone or "broadcast" in case.layout


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
    assert np.array_equal(fill("alike"), fill("alike"))
    assert 900 < np.std(fill("huge")) < 1500
    assert 14 < np.std(fill("huge", "f16")) < 24
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
    assert np.mean(np.abs(fill("outliers", "f16")) > 250) == pytest.approx(1 / 64, rel=0.1)
    assert set(FILLS) - set(spread) == {
        *("positive", "negative", "extreme", "special", "zeros", "ties", "halves", "constant", "kink"),
        *("exact", "signs", "subnormal", "tiny", "close", "mixed", "huge", "alike"),
        *(
            "special-rows",
            "special-columns",
            "masked",
            "masked-special",
            "far",
            "farther",
            "past-exp",
            "past-int32",
            "offset-1e3",
            "offset-1e4",
        ),
        *("heavy", "least", "infinite", "branches", "edges", "meet", "lone", "brink", "growing", "every-byte"),
        *("opposed", "padded", "spread", "special-pairs", "agreed", "steep", "truths", "squares", "limits", "pivots"),
        *("midpoints", "tenths", "outliers", "nan-codes", "small-scales", "singular", "crest", "leading"),
        *("alone",),
    }


def test_one_number_of_each_row_is_far_from_the_others():
    assert np.all(np.argmax(fill("crest", "f32"), -1) == fill("crest", "f32").shape[-1] - 1)
    assert np.all(fill("leading", "f32")[..., 0] > 4000)
    assert np.all(np.abs(fill("leading", "f32")[..., 1:]) < 8)


def test_whole_numbers_of_a_digit_more_than_float32_has():
    x = inputs_of(Case.parse("floor_divide[a=64x64;b=64x64;i32;fill=past-f32]"), load("floor_divide"))["a"]
    large = np.abs(x) >= 2**24
    assert np.abs(x).max() < 2**25
    assert 0.4 < large.mean() < 0.6
    assert np.mean(x[large] != x[large].astype(np.float32)) > 0.4
    assert (x == 0).mean() > 1 / 16


def test_midpoints_and_tenths():
    for kind, digits in (("f8e5m2", 3), ("f8e4m3", 4), ("bf16", 8), ("f16", 11)):
        x = fill("midpoints").ravel()
        down, up = (round_to(x * (1 + s * 2.0 ** -(digits + 1)), DTYPES[kind]) for s in (-1, 1))
        middle = (down + up) / 2 == x
        beside = ~middle & (np.abs((down + up) / 2 - x) < 2**-20 * np.abs(x))
        assert middle.sum() > 4, kind
        assert beside.sum() > 4, kind
    assert np.float32(1.0) / np.float32(0.1) == 10 > 1.0 / np.float64(np.float32(0.1))
    assert {float(np.float32(0.1)), 1.0, -3.0} <= {*fill("tenths").ravel()}


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
def test_fills_at_limits_are_what_they_say(dtype):
    kind = DTYPES[dtype]
    far = fill("far", dtype)
    assert (far.min(axis=1) > 5e4).sum() + (far.max(axis=1) < -5e4).sum() == len(far)
    assert {*np.sign(far[:, 0])} == {-1, 1}
    assert 2 <= len({*far[0]}) <= 3
    farther = fill("farther", dtype)
    assert np.abs(farther).min() > 1e4
    assert np.abs(farther).max() > min(1e38, kind.max / 2.1)
    assert all(len({*row}) == len(row) and np.ptp(np.sign(row)) == 0 for row in farther)
    past = fill("past-exp", dtype)
    assert past.max(axis=1)[past[:, 0] > 0].min() > np.log(DTYPES["f32"].max)
    assert np.abs(past).min() > 80
    assert {*np.sign(past[:, 0])} == {-1, 1}
    assert dtype == "f16" or 0.3 < np.mean(np.abs(fill("past-int32", dtype)) > 2**31) < 0.7
    assert abs(fill("offset-1e3", dtype).mean() - 1e3) < 1
    assert abs(fill("offset-1e4", dtype).mean() - 1e4) < 40
    heavy = fill("heavy", dtype)
    assert DTYPES["f16"].max / 4 < heavy.min() < heavy.max() < DTYPES["f16"].max
    least = np.abs(fill("least", dtype))
    assert 0.4 < np.mean(least < 4 * kind.tiny) < 0.6
    assert ((least > 0) & (least < kind.tiny)).any()
    assert ((least > kind.tiny) & (least < 2 * kind.tiny)).any()
    assert {*fill("infinite", dtype)[np.isinf(fill("infinite", dtype))]} == {-np.inf, np.inf}
    assert np.isfinite(fill("infinite", dtype)).mean() > 0.5


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
def test_branches_stand_between_their_neighbours(dtype):
    kind, drawn = DTYPES[dtype], {*fill("branches", dtype).flat}
    for point in (p for p in BRANCHES if kind.tiny < p < kind.max / 4):
        stored = float(round_to(point, kind))
        step = 2 * kind.u * 2.0 ** np.floor(np.log2(stored))
        assert {s * (stored + k * step) for s in (1, -1) for k in (-1, 0, 1)} <= drawn, point
    assert values(Case.parse(f"exp[x=66x11;{dtype};fill=branches]"))["x"].size >= len({*drawn})


def test_edges_stand_beside_kinks():
    case = Case.parse("floor_divide[a=9x33;b=9x33;f32;fill=edges]")
    found = values(case)
    quotient = (found["a"] / found["b"])[found["a"] != 0]
    apart = np.abs(quotient - np.rint(quotient)) / (DTYPES["f32"].u * np.abs(quotient))
    assert (apart == 0).sum() > 5
    assert ((apart > 0) & (apart < 4)).sum() > 8


def test_tensors_meet_in_half_of_their_places():
    found = values(Case.parse("maximum[a=33x64;b=33x64;f32;fill=meet]"))
    assert 0.4 < np.mean(found["a"] == found["b"]) < 0.6


def test_lone_numbers_stand_anywhere_first_and_last():
    rows = values(Case.parse("any[x=13x1031;dim=-1;f32;fill=lone]"))["x"]
    counts = np.count_nonzero(rows, axis=1)
    assert counts.tolist() == [0, 1, 1030, 1031] * 3 + [0]
    for kind in (1, 2):
        alone = rows[kind::4] != 0 if kind == 1 else rows[kind::4] == 0
        assert np.argmax(alone, axis=1)[1:].tolist() == [0, 1030]


def test_opposed_scores_are_all_far_below_zero():
    found = values(Case.parse("sliding_window_attention[query=2x2x3x8;key=2x2x37x8;value=2x2x37x8;f32;fill=opposed]"))
    scores = found["query"] @ np.swapaxes(found["key"], -1, -2)
    assert scores.max() < -5e4
    assert -4 < found["value"].min() < 0 < found["value"].max() < 4


def test_padded_masks_leave_out_the_beginning_of_every_row():
    keep = values(Case.parse("softmax_ext[x=2x2x33x260;keep=2x1x33x260;f32;fill=padded]"))["keep"].reshape(-1, 260)
    assert {*np.count_nonzero(keep == 0, axis=1)} == {65, 130, 195}
    assert np.array_equal(keep, np.sort(keep, axis=1))
    assert np.count_nonzero(keep[0]) == 65


def test_sums_of_spread_numbers_round():
    case = Case.parse("cumsum[x=3x1031;dim=-1;f32;fill=spread]")
    for drawn in (values(case)["x"], draw_cotangent(case, "g0", (3, 1031))):
        x = np.asarray(drawn, np.float64)
        off = np.cumsum(x.astype(np.float32), axis=1) != np.cumsum(x, axis=1)
        assert np.mean(off) > 0.5
        assert np.abs(x).min() < 2.0**-10


def test_brink_has_the_ends_of_what_a_tensor_may_be():
    rows = "r=2x5x2x9;w=2x5x2x9;k=2x5x2x9;v=2x5x2x9;a=2x5x2x9;b=2x5x2x9;state=2x2x9x9"
    found = values(Case.parse(f"wkv7[{rows};f32;fill=brink]"))
    gates = found["w"]
    assert (gates == 0).sum() > 8
    assert (gates == 1).sum() > 8
    assert ((gates > 0) & (gates < 0.01)).sum() > 8
    assert ((gates > 0.99) & (gates < 1)).sum() > 8
    assert 0.3 < np.mean((gates > 0.05) & (gates < 0.95)) < 0.7
    assert 0.3 < np.mean(found["r"] == 0) < 0.7
    assert np.abs(found["a"]).max() < 0.5  # which may not lie on its ends
    weight = values(Case.parse("nll_loss[x=5x65;target=5,;weight=65,;f32;fill=brink]"))["weight"]
    assert weight.min() == 0
    assert ((weight > 0) & (weight < 0.01)).any()
    assert (weight > 0.5).any()


def test_far_is_the_mask_that_is_added():
    found = values(Case.parse("softmax_ext[x=2x4x5x9;mask=2x1x5x9;f32;fill=far]"))
    assert np.abs(found["mask"]).min() > 5e4 > 10 > np.abs(found["x"]).max()


def rows_of(x):
    """What each row of `x` is: the one number that fills it, or the special ones that stand in it."""
    return [
        str(row[0]) if len({str(v) for v in row}) == 1 else " ".join(sorted(str(v) for v in row if not np.isfinite(v)))
        for row in x
    ]


def test_special_rows_are_of_every_kind_in_turn():
    kinds = ["", "-inf", "inf", "nan", "nan", "inf", "-inf", "-inf inf"]
    x = fill("special-rows")
    assert rows_of(x) == kinds * 8
    assert np.isnan(x[12, 0])
    assert np.isnan(x[20, -1])
    case = Case.parse("op[x=33x64;y=33x64;f32;fill=special-columns]")
    assert rows_of(draw_tensor(case, "x", (33, 64), None, "").T) == kinds * 8
    assert np.isfinite(draw_tensor(case, "y", (33, 64), None, "")).all()  # one tensor is special, the others are not


def test_rows_of_one_number_alone_are_of_every_kind_in_turn():
    x = fill("alone")[:10]
    largest = DTYPES["f32"].max
    assert np.isfinite(x[0]).all()
    assert np.all((x[[1, 8]] == 0) & np.signbit(x[[1]]))
    assert not np.signbit(x[8]).all()
    for row, number in zip(x[3:7], (largest, -largest, np.inf, -np.inf), strict=True):
        assert np.all(row == number)
    assert [set(np.signbit(row[np.isnan(row)]).tolist()) for row in x[[2, 7, 9]]] == [{True}, {False}, {True, False}]
    whole = inputs_of(Case.parse("argmax[x=9x33;dim=-1;u8;fill=alone]"), load("argmax"))["x"]
    assert [set(row.tolist()) for row in whole[1:4]] == [{0}, {255}, {0}]


def test_negative_integers_are_of_every_size():
    x = inputs_of(Case.parse("abs[x=64x64;i8;fill=negative]"), load("abs"))["x"]
    assert x.max() == -1
    assert len(np.unique(x)) > 30


def test_the_first_tensor_that_has_rows_is_special():
    found = values(Case.parse("cross_entropy_loss_back[grad=0d;x=9x7;target=9x7;f32;fill=special-rows]"))
    assert [bool(np.isfinite(found[name]).all()) for name in ("grad", "x", "target")] == [True, False, True]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", [f for f in FILLS if f not in NOT_FINITE | {"infinite"}])
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


@pytest.mark.parametrize("fill", ["normal", "wide", "offset", "positive", "kink", "constant"])
@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
def test_matrices_that_are_to_be_definite_are_symmetric_and_far_from_indefinite(fill, dtype):
    """A matrix rounded to 16 bits is, and so is each matrix of a batch."""
    for shape in ("33x33", "65537x2x2", "5x1x1"):
        case = Case.parse(f"cholesky[x={shape};{dtype};fill={fill}]")
        x = values(case)["x"]
        assert np.array_equal(x, np.swapaxes(x, -1, -2))
        least, most = np.linalg.eigvalsh(x)[..., [0, -1]].T
        assert (least > most / (8 * x.shape[-1])).all()


def test_unknown_fill():
    with pytest.raises(CaseError, match=r"^unknown fill 'wid' in relu\[x=3,;f32;fill=wid\]: expected one of normal, "):
        values(Case.parse("relu[x=3,;f32;fill=wid]"))


HIDING = [n for n in all_names() if load(n).hidden is not None]


@pytest.mark.parametrize("name", HIDING)
def test_nothing_depends_on_what_is_hidden(name):
    """Outputs and gradients are those of ordinary numbers in the same places, bit for bit."""
    op = load(name)
    for case in listed_cases(name):
        if case.fill not in HIDDEN:
            continue
        params, inputs = fill_parameters(case, op), order_arguments(case, op, values(case))
        hidden = [(i, mask) for i, mask in enumerate(op.hidden(*inputs, **params)) if mask is not None and mask.any()]
        assert hidden, str(case)
        plain = list(inputs)
        for i, mask in hidden:
            assert (~np.isfinite(inputs[i][mask]) | (abs(inputs[i][mask]) > 4000)).all(), str(case)
            plain[i] = np.where(mask, 0.5, inputs[i])
        answers = [evaluate_forward(op, i, params) for i in (inputs, plain)]
        np.testing.assert_equal(answers[0], answers[1], err_msg=str(case))
        if op.vjp is not None:
            g = cotangents_of(case, answers[0])
            gradients = [evaluate_vjp(op, i, params, g, answers[0]) for i in (inputs, plain)]
            np.testing.assert_equal(gradients[0], gradients[1], err_msg=str(case))
            assert not any(gradients[0][i][mask].any() for i, mask in hidden), str(case)


@pytest.mark.parametrize("layout", ["broadcast", "x:broadcast"])
def test_what_is_hidden_is_repeated_with_its_slice(layout):
    """Slices that are one in memory hold the same numbers: a row that is hidden in one of them alone stays."""
    case = Case.parse(f"cross_entropy[x=2x9;target=2,;ignore_index=-1;f32;fill=masked;layout={layout}]")
    found = values(case)
    assert np.array_equal(found["x"][0], found["x"][1])
    assert (abs(found["x"][0]).max() > 1e14) == (found["target"] == -1).all()


def test_what_a_mask_hides_wrongly_is_noticed():
    """The check above fails where a kept element counts as hidden."""
    op = load("tril")
    wrong = dataclasses.replace(op, hidden=lambda x, *, diagonal: (np.tril(np.ones(x.shape), diagonal - 1) == 0,))
    case = Case.parse("tril[x=5x9;diagonal=0;f32;fill=masked]")
    found = inputs_of(case, wrong)["x"]
    assert abs(evaluate_forward(op, [found], fill_parameters(case, op))[0]).max() > 1e14


def test_bits_are_those_of_philox_with_a_hash_for_its_key():
    words = np.frombuffer(hashlib.blake2b(b"any key", digest_size=16).digest(), "<u8").astype(np.uint64)
    generator = np.random.Philox(key=words)
    bits = bits_of("any key")
    for count in (5, 0, 300):
        assert (bits(count) == generator.random_raw(count)).all()


@pytest.mark.parametrize("seed", ["", ";seed=3"])
def test_in_special_pairs_every_number_meets_every_other(seed):
    found = values(Case.parse(f"add[a=81,;b=81,;f16;fill=special-pairs{seed}]"))
    pairs = {(str(a), str(b)) for a, b in zip(found["a"], found["b"], strict=True)}  # as text: NaN and -0 count
    assert len(pairs) == 81
    assert {("inf", "inf"), ("-inf", "-inf"), ("nan", "nan"), ("0.0", "-0.0"), ("-inf", "2.5")} <= pairs


def test_a_row_is_not_beside_the_kink_of_its_length() -> None:
    """A length beside eps is stored as eps in bfloat16, and its gradient is that of the other side."""
    case = Case.parse("l2_norm[x=2x8x1x128;dim=1;eps=2.0;bf16;fill=zeros;layout=x:transposed;seed=1]")
    op = load("l2_norm")
    distance = measure_kink_distances(case, op, inputs_of(case, op))
    assert not ((distance > 0) & (distance < 2.0**-8)).any()
    (stored,) = make_stored_question(case, op, Mode.FORWARD).inputs
    assert stored is not None
    assert (stored == inputs_of(case, op)["x"]).all()
