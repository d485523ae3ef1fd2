"""How the data of large cases repeat: which do, with which period, and that all who draw them draw the same."""

import numpy as np
import pytest

from opproof.cases import Case
from opproof.core.dtypes import DTYPES
from opproof.core.verdicts import Mode
from opproof.harness.judge import periods as judge_periods
from opproof.harness.judge.bound import bound_of
from opproof.harness.judge.outputs import Outputs
from opproof.harness.reference.axes import MIN_REPEATED_ELEMENTS, find_periods
from opproof.harness.reference.chunks.question import make_fitting_question
from opproof.harness.reference.data import inputs_of
from opproof.harness.reference.expected import evaluate_expected, expected_of
from opproof.harness.reference.question import make_question
from opproof.reference_ops import load


def found(text):
    case = Case.parse(text)
    return find_periods(case, load(case.op))


def periods_of(text):
    periods = found(text)
    return None if periods is None else [r.period for r in periods.repeats]


def test_only_large_cases_repeat_and_along_axes_over_which_they_are_maps():
    assert MIN_REPEATED_ELEMENTS == 2**17
    assert periods_of("relu[x=131071,;f32]") is None
    assert periods_of("relu[x=131072,;f32]") == [509]
    assert periods_of("rms_norm[x=65536x4;f32]") == [509]
    assert periods_of("argsort[x=256x1025;dim=-1;f32]") == [13]
    assert periods_of("add[a=512x1024;b=512x1024;f32]") == [67, 61]
    assert periods_of("add[a=4096x64;b=64,;f32]") == [251, 19]
    assert periods_of("softmax[x=4x65536;dim=-1;f32]") is None  # one row is a fourth of it
    assert periods_of("matmul[a=2048x4;b=4x2048;f32]") is not None  # its result is large


@pytest.mark.parametrize(
    "rest", ["fill=every", "fill=growing", "fill=spread", "layout=broadcast", "fill=candle-2114", "layout=x:broadcast"]
)
def test_what_lists_its_numbers_or_shares_memory_does_not_repeat(rest):
    assert periods_of(f"sigmoid[x=512x512;f32;{rest}]") is None


def test_heads_that_share_a_key_stay_together():
    heads = "query=1x512x16x32;key=1x128x16x32;value=1x128x16x32;enable_gqa=true"
    periods = found(f"scaled_dot_product_attention[{heads};f32]")
    (repeat,) = periods.repeats
    assert (repeat.period, repeat.joined) == (52, 4)
    assert periods.case.shapes == {"query": (1, 52, 16, 32), "key": (1, 13, 16, 32), "value": (1, 13, 16, 32)}


def test_a_period_divides_no_distance_of_a_power_of_two_and_no_other_axis():
    for text in ("softmax[x=4096x128;dim=-1;f32]", "relu[x=1024x1024;f32]", "matmul[a=65536x61;b=61x8;f32]"):
        periods = found(text)
        for repeat in periods.repeats:
            assert all(2**k % repeat.period for k in range(31))
    assert periods_of("softmax[x=4096x61;dim=-1;f32]") != [61]


@pytest.mark.parametrize(
    "text",
    [
        "rms_norm[x=70001x4;weight=4,;f32]",
        "add[a=1000x300;b=300,;bf16;layout=transposed]",
        "maximum[a=700x800;b=700x800;f32]",
        "scaled_dot_product_attention[query=2x96x16x32;key=2x96x16x32;value=2x96x16x32;f16]",
        "embedding[weight=9x4;indices=140000,;f32]",
    ],
)
def test_everybody_draws_the_same(text):
    """In one piece or as memory allows, alone or with all that is asked of it: the data follow from the id."""
    case = Case.parse(text)
    op = load(case.op)
    plain, periods = inputs_of(case, op), found(text)
    for mode in (Mode.FORWARD, Mode.GRADIENT):
        whole = make_question(case, op, mode).case_data
        for memory in (2**30, 2**26, 2**24):
            asked = make_fitting_question(case, op, mode, memory).case_data
            for name, x, y in zip(whole.names, whole.inputs, asked.inputs, strict=True):
                if x is None:
                    continue
                np.testing.assert_array_equal(x, np.asarray(y, x.dtype))
                np.testing.assert_array_equal(x, plain[name])
                for _, repeat, at, length in periods.iter_axes(name, x.shape):
                    index = np.arange(repeat.axis.extent * length // repeat.period) % length
                    np.testing.assert_array_equal(np.take(x, index[: x.shape[at]], axis=at), x)
            for g, h in zip(whole.cotangents, asked.cotangents, strict=True):
                np.testing.assert_array_equal(g, np.asarray(h, g.dtype))


def test_signs_add_up_to_about_the_root_of_their_number():
    for rows in (32768, 65536, 70001, 131072, 500000):
        (repeat,) = found(f"rms_norm[x={rows}x4;weight=4,;f32]").repeats
        whole = np.resize(np.repeat(repeat.signs, repeat.period), rows)
        want = np.bincount(np.arange(rows) % repeat.period, whole)
        np.testing.assert_array_equal(repeat.weights, want)
        assert (np.abs(want) >= 1).all()
        assert abs(np.abs(want).max() - np.sqrt(repeat.count)) < 3


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("rms_norm[x=32768x8;weight=8,;f16]", 1.2),
        ("matmul[a=16384x8;b=8x8;f32]", 2),
        ("matmul[a=8x8;b=8x16384;bf16]", 1.2),
        ("conv2d[x=256x2x16x16;weight=2x2x3x3;bias=2,;f16]", 1.2),
        ("embedding[weight=16x4;indices=40000,;f32]", 2),
        ("mul[a=4096x64;b=64,;f32]", 2),
        ("linear[x=8192x32;weight=4x32;bias=4,;f32]", 2),
    ],
)
def test_bounds_are_those_of_an_evaluation_of_the_whole(text, share):
    """Of gradients that are sums over the repeats, too: by the chance of sixteen runs apart."""
    case = Case.parse(text)
    asked = make_fitting_question(case, load(case.op), Mode.GRADIENT).case_data
    whole = evaluate_expected(asked.given(inputs=asked.inputs))
    answer = Outputs([None if e is None else e.values for e in whole])
    seen = 0
    for group in judge_periods.group_results(asked, answer):
        for i in group.members:
            kind = DTYPES[case.dtype]
            ours = judge_periods.repeat_expected(group, i, expected_of(group.question)[i])
            np.testing.assert_allclose(ours.values, whole[i].values, rtol=1e-9, atol=1e-9)
            ratio = np.median(bound_of(ours, kind) / bound_of(whole[i], kind))
            assert 1 / share < ratio < share
            seen += 1
    assert seen == sum(asked.needs)


def test_a_pointwise_operator_that_has_no_place_for_each_slice_does_not_repeat():
    """Halves of one tensor; a weight for each channel, which broadcasts otherwise than from the last axis on."""
    assert periods_of("swiglu[x=1x2x1x131070;f16]") is None
    assert periods_of("swiglu[x=4096x64;gate=4096x64;f16]") is not None
    assert periods_of("prelu[x=8x512x64;weight=512,;f32]") is None
    assert periods_of("prelu[x=65536x4;weight=4,;f32]") == [509]
