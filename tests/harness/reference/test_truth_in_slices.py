"""Slices of large cases: which there are, what they hold, what is drawn for them, and how many fit."""

import sys
import time
import warnings

import numpy as np
import pytest

from opproof.cases import Case
from opproof.core.errors import CaseError
from opproof.core.verdicts import Mode
from opproof.harness.reference.axes import Axis, axes_of
from opproof.harness.reference.chunks import expected
from opproof.harness.reference.chunks.blocks import (
    cover,
    find_containing_block,
    make_whole_block,
    region_of,
    results_of,
    split_block,
)
from opproof.harness.reference.chunks.expected import evaluate_in_block, expect_in_block, in_turn
from opproof.harness.reference.chunks.memory_budget import MAX_PARALLEL_BLOCKS, ChunkPlan, NoisePlan, TooLarge
from opproof.harness.reference.chunks.question import make_fitting_question, make_stored_question
from opproof.harness.reference.data import inputs_of
from opproof.harness.reference.expected import evaluate_expected, values_of
from opproof.harness.reference.question import make_question as pose_whole
from opproof.harness.reference.valid_case import check_case
from opproof.reference_ops import load


@pytest.fixture(autouse=True)
def _all_data_drawn(monkeypatch):
    """No data repeat: those of large cases are as different as those of small ones."""
    monkeypatch.setattr("opproof.harness.reference.axes.MIN_REPEATED_ELEMENTS", sys.maxsize)


HEADS = Axis(8, {"query": -3, "key": -3, "y": -3})
GROUPED = "scaled_dot_product_attention[query=1x4x9x8;key=1x2x9x8;value=1x2x9x8;is_causal=true;enable_gqa=true;f32]"


def test_the_slices_of_groups():
    """Eight heads that share two of the keys': four to each."""
    axes = (HEADS,)
    assert region_of(axes, ((4, 5),), "key", (1, 2, 9, 16)) == (slice(0, 1), slice(1, 2), slice(0, 9), slice(0, 16))
    assert region_of(axes, ((4, 5),), "query", (1, 8, 9, 16))[1] == slice(4, 5)
    assert region_of(axes, ((4, 5),), "sinks", (8,)) == (slice(0, 8),)
    assert cover(axes, ((5, 6),), "key", (1, 2, 9, 16)) == ((4, 8),)
    assert cover(axes, ((5, 6),), "mask", (9, 9)) == ((0, 8),)
    assert find_containing_block(axes, "key", (1, 2, 9, 16), (0, 1, 3, 3)) == ((4, 5),)
    shapes = {"query": (1, 8, 9, 16), "key": (1, 2, 9, 16)}
    assert [n for n in range(1, 9) if HEADS.valid(n, shapes)] == [1, 2, 4, 8]
    assert HEADS.larger(2, shapes) == 4
    assert [*split_block(make_whole_block(axes), (4,))] == [((0, 4),), ((4, 8),)]


def test_what_has_no_slices():
    for text in (
        "sort[x=40x50;f32]",
        "cumprod[x=40x50;dim=0;f32]",
        "add[a=40x50;b=@a;f32]",
        "exp[x=0x50;f32]",
        "geglu[x=40x50;f32]",
    ):
        case = Case.parse(text)
        axes = axes_of(case, load(case.op))
        assert not axes or text.startswith("geglu")
    ordered = "scaled_dot_product_attention[query=2x4x9x8;key=2x4x9x8;value=2x4x9x8;{}f32]"
    counts = {"": 3, "is_causal=true;": 2, "max_bias=8.0;": 2, "is_causal=true;max_bias=8.0;": 1}
    for params, count in counts.items():
        case = Case.parse(ordered.format(params))
        assert len(axes_of(case, load(case.op))) == count


@pytest.mark.parametrize("mode", [Mode.FORWARD, Mode.GRADIENT])
def test_what_is_added_up_over_parts_has_values_and_scale_of_the_whole(mode):
    case = Case.parse(GROUPED)
    posed = pose_whole(case, load(case.op), mode).case_data
    axes = axes_of(case, posed.op)
    room = ChunkPlan(axes, (1,), {})
    results = results_of(posed, posed.outputs)
    for name, shape in results.items():
        names = list(results) if mode is Mode.FORWARD else list(posed.names)
        want = values_of(posed)[names.index(name)]
        np.testing.assert_allclose(
            evaluate_in_block(posed, room, make_whole_block(axes), name, shape), want, rtol=1e-12, atol=1e-13
        )
    if mode is Mode.GRADIENT:
        parts = expect_in_block(posed, room, make_whole_block(axes), NoisePlan((1,), 16, 16), posed.needs, None)
        for part, want in zip(parts, evaluate_expected(posed), strict=True):
            assert (part is None) == (want is None)
            if part is not None:
                np.testing.assert_allclose(part.values, want.values, rtol=1e-12, atol=1e-13)
                assert 0.9 < np.median(part.scale / want.scale) < 1.1


def test_noise_of_few_runs_is_that_of_one_part(monkeypatch):
    """Four heads that share keys: one is noisy, the values are of all, and the scale is as if all were."""
    case = Case.parse(GROUPED)
    posed = pose_whole(case, load(case.op), Mode.GRADIENT).case_data
    axes, made = axes_of(case, posed.op), []
    room = ChunkPlan(axes, (1,), {})
    monkeypatch.setattr(expected, "evaluate_expected", lambda *a: made.append(a) or evaluate_expected(*a))
    parts = expect_in_block(posed, room, make_whole_block(axes), NoisePlan((1,), 8, 8), posed.needs, None)
    assert len(made) == 1
    for part, want in zip(parts[:3], evaluate_expected(posed)[:3], strict=True):
        np.testing.assert_allclose(part.values, want.values, rtol=1e-12, atol=1e-13)
        assert 0.7 < np.median(part.scale / want.scale) < 1.5


@pytest.mark.parametrize("count", [1, 2])
def test_blocks_are_made_in_turn(monkeypatch, count):
    """In their order, two at most in the making, and what one raises is raised."""
    monkeypatch.setattr(expected, "count_cores", lambda: count)
    taken, begun = [], []

    def make(n):
        begun.append(n)
        time.sleep(0.002 * (n % 3))
        return n * n

    for n, made in in_turn(make, range(12)):
        taken.append((n, made))
        assert len(begun) - len(taken) < MAX_PARALLEL_BLOCKS
    assert taken == [(n, n * n) for n in range(12)]
    filters = list(warnings.filters)
    with pytest.raises(ZeroDivisionError):
        list(in_turn(lambda n: 1 // n, [2, 1, 0, 3]))
    assert warnings.filters == filters


def test_noise_in_parts_is_as_large_as_all_at_once():
    case = Case.parse("softmax[x=40x50;dim=-1;f32]")
    posed = pose_whole(case, load("softmax"), Mode.GRADIENT).case_data
    (at_once,) = evaluate_expected(posed)
    assert np.array_equal(evaluate_expected(posed.given())[0].scale, at_once.scale)
    for together in (1, 4, 5):
        (parts,) = evaluate_expected(posed.given(together=together))
        assert 0.93 < np.median(parts.scale / at_once.scale) < 1.07
        assert np.array_equal(parts.values, at_once.values)


def test_the_memory_decides_how_a_case_is_posed():
    text = "matmul[a=400x300;b=300x350;f16]"
    case = Case.parse(text)
    small = Case.parse("matmul[a=40x30;b=30x35;f16]")
    assert make_fitting_question(small, load("matmul"), Mode.FORWARD, 1).room is None
    pair = make_fitting_question(case, load("matmul"), Mode.FORWARD)
    assert pair.room is None
    sliced = make_fitting_question(case, load("matmul"), Mode.FORWARD, 2**24)
    assert sliced.room is not None
    assert sliced.case_data.inputs[0].dtype == np.float16
    assert [y.shape for y in sliced.outputs] == [y.shape for y in pair.outputs]
    for mine, other in ((sliced.case_data, pair.case_data), (sliced.decoy_data, pair.decoy_data)):
        for x, y in zip(mine.inputs, other.inputs, strict=True):
            np.testing.assert_array_equal(x.astype(np.float64), y)
    with pytest.raises(TooLarge, match="give --judge-memory"):
        make_fitting_question(case, load("matmul"), Mode.FORWARD, 2**10)


@pytest.mark.parametrize(
    "text",
    [
        "scaled_dot_product_attention[query=1x4x40x64;key=1x4x60x64;value=1x4x60x64;is_causal=true;f32;fill={}]",
        "diag_mask_inf[x=8x40x120;n_past=3;f32;fill={}]",
    ],
)
@pytest.mark.parametrize("fill", ["masked", "masked-special"])
def test_what_a_mask_hides_is_hidden_in_slices_too(text, fill):
    """Numbers of 1e30, NaN and infinities where nobody looks: a kernel that adds before it masks must see them."""
    case = Case.parse(text.format(fill))
    op = load(case.op)
    whole = inputs_of(case, op)
    posed = make_stored_question(case, op, Mode.FORWARD)
    for name, x in zip(posed.names, posed.inputs, strict=True):
        if name is not None:
            np.testing.assert_array_equal(x, whole[name].astype(x.dtype))
    assert axes_of(case, op)
    assert any(not (np.abs(x) < 1e29).all() for x in posed.inputs if x is not None)


def test_what_surely_fits_is_not_measured(monkeypatch):
    """Chunks of every number of f32 are so many that each is drawn once; in less memory they are measured."""
    case = Case.parse("gelu[x=512x512;f32;fill=every:9000/16384]")
    monkeypatch.setattr("opproof.harness.reference.chunks.question.make_stored_question", None)
    for mode in (Mode.FORWARD, Mode.GRADIENT):
        assert make_fitting_question(case, load("gelu"), mode).room is None
    with pytest.raises(TypeError, match="NoneType"):
        make_fitting_question(case, load("gelu"), Mode.FORWARD, 2**27)


def test_gradients_are_asked_alike():
    case = Case.parse("linear[x=2x200x300;weight=200x300;bias=200,;f32;needs=x,bias]")
    pair, sliced = (make_fitting_question(case, load("linear"), Mode.GRADIENT, memory) for memory in (2**34, 2**25))
    assert sliced.room is not None
    assert sliced.case_data.needs == pair.case_data.needs == (True, False, True)
    for mine, other in ((sliced.case_data, pair.case_data), (sliced.decoy_data, pair.decoy_data)):
        np.testing.assert_array_equal(mine.cotangents[0], other.cotangents[0])


def test_a_large_case_is_checked_by_one_slice():
    assert check_case(Case.parse("matmul[a=409600x4096;b=4096x409600;f16]"))
    with pytest.raises(CaseError, match="cannot be computed so"):
        check_case(Case.parse("matmul[a=4096x4096;b=4095x4096;f16]"))
