"""Answers in integers and in 8-bit floats: right ones pass, each way to be wrong has its verdict."""

import ml_dtypes
import numpy as np
import pytest
from _ask import judged

from opproof.backends.numpy import NumPy
from opproof.harness.judge.bound import compare, is_clearly_wrong
from opproof.harness.reference.question import Expected

HONEST = NumPy()
E4M3, E5M2 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2


class Changed(NumPy):
    """The honest answer, changed."""

    def __init__(self, change):
        self.change = change

    def forward(self, op, inputs, params, out=None):
        del out
        return [self.change(y) for y in HONEST.forward(op, inputs, params)]


def last(change):
    """The last element changed."""

    def changed(y):
        y = y.copy()
        y.flat[-1] = change(y.flat[-1])
        return y

    return changed


WHOLE = ["add[a=7x33;b=7x33;i8]", "sum[x=7x9;dim=-1;i16]", "mul[a=4x16;b=4x16;i32]", "flip[x=7x33;dims=(1);u8]"]
FLOAT8 = ["add[a=7x33;b=7x33;f8e4m3]", "mul[a=7x33;b=7x33;f8e5m2]", "flip[x=7x33;dims=(1);f8e4m3]"]


@pytest.mark.parametrize("case", [*WHOLE, *FLOAT8])
def test_the_honest_backend_passes(case):
    assert judged(HONEST, case).verdict == "PASS"


@pytest.mark.parametrize("case", WHOLE)
def test_off_by_one_is_wrong(case):
    found = judged(Changed(last(lambda v: v ^ 1)), case)
    assert found.verdict == "WRONG_VALUE"
    assert found.units == np.inf


def test_one_in_a_large_sum_is_wrong():
    """In float32, 2^30 + 1 is 2^30."""
    limits = np.iinfo(np.int32)
    rounded = Changed(lambda y: np.clip(y.astype(np.float32).astype(np.int64), limits.min, limits.max))
    found = judged(rounded, "add[a=7x33;b=7x33;i32]")
    assert found.verdict == "WRONG_VALUE"


@pytest.mark.parametrize("case", WHOLE)
def test_a_wider_type_with_the_same_numbers_is_right(case):
    assert judged(Changed(lambda y: y.astype(np.int64)), case).verdict == "PASS"


def test_a_float_is_none():
    assert judged(Changed(lambda y: y.astype(np.float32)), WHOLE[0]).verdict == "WRONG_DTYPE"


def test_a_wider_type_with_a_number_that_does_not_fit_is_wrong():
    assert judged(Changed(lambda y: y.astype(np.int64) + 2**20), WHOLE[0]).verdict == "WRONG_DTYPE"


def test_8_bit_floats_are_rounded_to_nearest():
    def down(y):
        return np.nextafter(y, np.array(-np.inf, y.dtype))

    moved = judged(Changed(lambda y: (y.view(np.uint8) + 2).view(y.dtype)), "add[a=7x33;b=7x33;f8e4m3]")
    assert moved.verdict == "WRONG_VALUE"
    assert judged(Changed(down), "flip[x=7x33;dims=(1);f8e5m2]").verdict == "WRONG_VALUE"


def test_moved_subnormals_stay():
    """Nothing that has 8-bit floats takes their subnormal numbers for 0."""

    def flushed(y):
        wide = y.astype(np.float32)
        return np.where(np.abs(wide) < 2.0**-6, 0, wide).astype(y.dtype)

    assert judged(Changed(flushed), "cast[x=16x16;to=f32;fill=every;f8e4m3]").verdict == "WRONG_VALUE"


@pytest.mark.parametrize(
    ("dtype", "got", "right"),
    [
        ("f8e4m3", np.nan, True),
        ("f8e4m3", 448, True),
        ("f8e4m3", -448, False),
        ("f8e4m3", 416, False),
        ("f8e5m2", np.inf, True),
        ("f8e5m2", 57344, True),
        ("f8e5m2", np.nan, False),
        ("f8e5m2", -np.inf, False),
    ],
)
def test_past_the_largest_number(dtype, got, right):
    given = np.array([got]).astype(E4M3 if dtype == "f8e4m3" else E5M2)
    expected = Expected(np.array([80000.0]), np.zeros(1), faithful=True)
    assert compare(given, expected, dtype).passed.all() == right


def test_whole_numbers_that_are_plainly_wrong():
    expected = Expected(np.array([5.0]), np.zeros(1), exact=True)
    assert is_clearly_wrong(np.array([6], np.int8), expected, "i8")
    assert not is_clearly_wrong(np.array([5], np.int8), expected, "i8")
