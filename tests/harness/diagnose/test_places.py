"""Places that a loop forgets are named, with those that hold the same elements beside them; no half of one."""

import numpy as np
import pytest
from _ask import attempted
from test_patterns import Changed, near, told

from opproof.core.dtypes import DECLARED
from opproof.harness.diagnose.diagnosis import diagnose, find_other_patterns

F, G = "forward", "gradient"


def missing(index):
    """Zeros where `index` says, in every result."""

    def change(found, inputs):
        found = [y.copy() for y in found]
        for y in found:
            y[index] = 0
        return found

    return Changed(change)


@pytest.mark.parametrize(
    ("index", "case", "place"),
    [
        (np.s_[-1:], "exp[x=7x33;f32]", "the elements of the last slice along axis 0"),
        (np.s_[-1:], "exp[x=5x31;f32]", "the elements past 4 along axis 0 (the last multiple of 4; the last slice)"),
        (np.s_[4:], "exp[x=7x33;bf16]", "the elements past 4 along axis 0 (the last multiple of 4)"),
        (np.s_[:1], "exp[x=7x33;f32]", "the elements of the first slice along axis 0"),
        (np.s_[1:], "exp[x=7x33;f32]", "the elements with an index > 0 along axis 0"),
        (np.s_[1::2], "softmax[x=7x33;dim=-1;f32]", "the elements with an odd index along axis 0"),
        (np.s_[:, ::2], "exp[x=7x33;f32]", "the elements with an even index along axis 1"),
        (np.s_[:, ::8], "exp[x=7x33;f32]", "the elements with a multiple of 8 for index along axis 1"),
        (np.s_[:, 7::8], "exp[x=7x33;f32]", "the elements with one less than a multiple of 8 for index along axis 1"),
        (np.s_[:, 9:17], "exp[x=7x33;f32]", "the elements from 9 to 16 along axis 1"),
        (np.s_[:, 9], "exp[x=7x33;f32]", "the elements of slice 9 along axis 1"),
    ],
)
def test_a_place_is_named(index, case, place):
    assert told(missing(index), case) == f"only {place} of y are wrong"


def test_a_place_is_named_of_whole_numbers_and_is_told_beside():
    backend = missing(np.s_[:, 9])
    backend.dtypes = DECLARED
    made = attempted(backend, "add[a=7x33;b=7x33;i32]")
    said = diagnose(made.posed, made.answer, made.judgement)
    assert said == "only the elements of slice 9 along axis 1 of y are wrong"
    assert find_other_patterns(made.posed, made.answer, made.judgement, said) == ()


def test_edges_are_named():
    def change(y, x):
        y = y.copy()
        y[..., [0, -1], :] = 0
        y[..., [0, -1]] = 0
        return y

    said = told(near(change), "exp[x=2x3x4x7;f32;fill=wide;layout=permuted]")
    assert said == "only the elements of the first and last slices along axes 2, 3 of y are wrong"


def test_what_holds_the_same_elements_is_told_beside():
    """Of one case; which of them is right, several cases tell."""
    made = attempted(missing(np.s_[-1:]), "exp[x=5x31;f32]")
    said = diagnose(made.posed, made.answer, made.judgement)
    beside = [s for _, s in find_other_patterns(made.posed, made.answer, made.judgement, said)]
    assert "only the elements of the last slice along axis 0 of y are wrong" in beside
    assert "only the elements past 4 along axis 0 (the last multiple of 4) of y are wrong" in beside


@pytest.mark.parametrize("share", [0.3, 0.5])
def test_a_tail_that_is_half_right_is_none(share):
    """A loop that forgets a place forgets all of it."""

    def change(y, x):
        y, rng = y.copy(), np.random.default_rng(3)
        tail = y[:, 16:]
        tail[rng.random(tail.shape) < share] += 1
        return y

    assert told(near(change), "exp[x=7x33;f32]") == ""


def test_what_an_index_names_is_no_place():
    """Of rows that are read twice the mean, not the sum."""

    def change(found, inputs):
        count = np.bincount(inputs[1], minlength=len(found[0])).reshape(-1, 1)
        return [(found[0] / np.maximum(count, 1)).astype(found[0].dtype), None]

    said = told(Changed(change), "index_select[x=7x9;index=5,;dim=0;f32]", G)
    assert said == "only the slices along axis 0 that index names more than once of the gradient of x are wrong"


def test_from_one_number_to_another():
    def change(found, inputs):
        off = (inputs[0] > -0.5) & (inputs[0] < 0)
        return [np.where(off, 1, found[0]).astype(found[0].dtype)]

    said = told(Changed(change), "relu[x=7x33;f32]")
    assert said.startswith("only the elements where -0.4")
    assert "≤ x ≤ -0.0" in said


def off_where(mask, by):
    return Changed(lambda found, inputs: [np.where(mask(inputs[0]), by(found[0]), found[0]).astype(found[0].dtype)])


def some(x):
    """A quarter, chosen by nothing that has to do with their values."""
    return np.random.default_rng(5).random(x.shape) < 0.25


@pytest.mark.parametrize(
    ("mask", "said"),
    [
        (lambda x: x <= -1, "only the elements where x ≤ -1.0"),
        (lambda x: (x <= -1) & some(x), ""),  # three of four beyond the bound are right
        (lambda x: x >= -2, ""),  # nearly everything
    ],
)
def test_a_bound_is_named_where_most_beyond_it_is_wrong_and_it_is_not_nearly_all(mask, said):
    found = told(off_where(mask, lambda y: y + 0.1 + y * y), "sin[x=7x33;f32]")
    assert found.startswith(said)
    assert bool(said) == bool(found)


def test_right_elements_too_small_to_show_an_error_count():
    """Of numbers below zero the smallest would hide an error of 2^-17; where most of them are, zero is no bound."""
    said = told(off_where(lambda x: x < -1e-3, lambda y: y * (1 + 2**-17)), "square[x=256x256;f32;fill=every]")
    assert "where x < 0" not in said


def test_nan_for_numbers_is_told_before_what_else_is_wrong():
    """A root of a negative number; that others are off, here and there, has another cause."""

    def change(found, inputs):
        y = np.where(some(inputs[0]), found[0] + 1, found[0])
        return [np.where(inputs[0] < -1, np.nan, y).astype(found[0].dtype)]

    said = told(Changed(change), "sin[x=7x33;f32]")
    assert said.startswith("only the elements where x ≤ -1.0")
    assert said.endswith(" of y are NaN; others are wrong numbers")
    alone = told(off_where(lambda x: x < -1, lambda y: y * np.nan), "sin[x=7x33;f32]")
    assert alone.endswith(" of y are NaN")


def rows_off(chosen):
    """Rows of the first result that are off by a fifth: those of the index that `chosen` says, of those it names."""

    def change(found, inputs):
        index = next(v for v in inputs if v is not None and v.dtype.kind in "iu").reshape(-1)
        y, named = found[0].copy(), np.unique(index)
        y[named[chosen(named)]] *= 1.2
        return [y, *found[1:]]

    return Changed(change)


@pytest.mark.parametrize(
    ("chosen", "case"),
    [
        (lambda named: named % 2 == 1, "embedding[weight=9x32;indices=2x3x2;f32;layout=weight:offset]"),
        (lambda named: named % 2 == 0, "embedding[weight=6x33;indices=7,;f16;layout=weight:transposed]"),
        (lambda named: named >= 4, "embedding[weight=7x33;indices=5,;f32]"),
        (lambda named: named >= 64, "embedding[weight=130x9;indices=4,;f32]"),
    ],
)
def test_of_a_table_of_which_few_rows_are_named_no_pattern_of_rows_is_told(chosen, case):
    said = told(rows_off(chosen), case, G)
    assert "index along axis" not in said
    assert "past" not in said
    assert "from" not in said


def test_of_a_table_of_which_many_rows_are_named_a_pattern_is_told():
    said = told(rows_off(lambda named: named % 2 == 1), "embedding[weight=66x5;indices=257,;f32]", G)
    assert said == "only the elements with an odd index along axis 0 of the gradient of weight are wrong"


def test_rows_of_another_tensor_are_not_those_an_index_names():
    """ids names experts, rows of b; y has a row for each token."""

    def change(found, inputs):
        often = np.bincount(inputs[2].reshape(-1), minlength=9) > 1
        return [found[0] * np.where(often, np.float32(1.2), np.float32(1)).reshape(9, 1, 1)]

    assert "ids names" not in told(Changed(change), "add_id[a=9x3x32;b=7x32;ids=9x3;f32]")


@pytest.mark.parametrize(
    ("where", "rows", "said"),
    [
        (np.s_[:1], 2, "slice 0 of 2"),
        (np.s_[-1:], 2, "slice 1 of 2"),
        (np.s_[:1], 3, "slice 0 of 3"),
        (np.s_[-1:], 3, "slice 2 of 3"),
        (np.s_[1:], 3, "slices 1 to 2 of 3"),
        (np.s_[:1], 4, "the first slice"),
        (np.s_[-1:], 4, "the last slice"),
    ],
)
def test_of_two_or_three_slices_none_is_said_to_be_the_first_or_the_last(where, rows, said):
    made = attempted(missing(where), f"exp[x={rows}x31;f32]")
    text = diagnose(made.posed, made.answer, made.judgement)
    assert text == f"only the elements of {said} along axis 0 of y are wrong"


def test_that_it_is_the_first_is_told_beside_where_other_records_may_tell():
    made = attempted(missing(np.s_[:1]), "exp[x=2x31;f32]")
    said = diagnose(made.posed, made.answer, made.judgement)
    assert "only the elements of the first slice along axis 0 of y are wrong" in [
        s for _, s in find_other_patterns(made.posed, made.answer, made.judgement, said)
    ]
