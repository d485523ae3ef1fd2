"""Results of integers: what became of their bits, their sign, their halves; and nothing where it is otherwise."""

import numpy as np
import pytest
from test_patterns import Changed, told

from opproof.backends.numpy import create
from opproof.core.dtypes import DECLARED


class Whole(Changed):
    """The numpy backend, of integers too; its first result is changed."""

    dtypes = DECLARED

    def __init__(self, change):
        super().__init__(lambda found, inputs: [change(found[0]).astype(found[0].dtype), *found[1:]])


def wide(y):
    return y.astype(np.int64)


def some(y):
    return np.random.default_rng(3).random(y.shape) < 0.3


MATMUL = "matmul_integer[a=7x33;b=33x5;a_zero_point=0d;b_zero_point=0d;type=i8;b_type=i8;f32]"
LAST = "the elements past 32 along axis 1 (the last multiple of 4; the last slice)"
QUANTISED = "quantize_linear[x=7x33;scale=7x1;type=i8;f32]"


@pytest.mark.parametrize(
    ("change", "case", "said"),
    [
        (lambda y: y + 1, "add[a=7x33;b=7x33;i32]", "every element of y is off by one: 1 too large"),
        (lambda y: y - 1, "add[a=7x33;b=7x33;u8]", "every element of y is off by one: 1 too small"),
        (lambda y: y - some(y), MATMUL, "the wrong elements of y are off by one: 1 too small"),
        (
            lambda y: y - (np.arange(y.shape[-1]) == y.shape[-1] - 1),
            "add[a=7x33;b=7x33;i32]",
            f"the wrong elements of y are off by one: 1 too small; only {LAST} of y are wrong",
        ),
        (
            lambda y: y + np.where(some(y), 1, -1),
            "add[a=7x33;b=7x33;i16]",
            "every element of y is off by one: 1 too large or 1 too small",
        ),
        (lambda y: y.view(np.int8) + 1, QUANTISED, "every element of y is off by one: 1 too large"),
        (lambda y: wide(y) + 3, "add[a=7x33;b=7x33;i32]", "a constant is added to y: 3"),
        (lambda y: wide(y) - 3, "sub[a=7x33;b=7x33;u8]", "a constant is added to y: -3"),
        (lambda y: y.astype(np.int8), MATMUL, "y is wrapped around at 8 bits"),
        (lambda y: y.astype(np.int16), "mul[a=7x33;b=7x33;i32]", "y is wrapped around at 16 bits"),
        (lambda y: y.astype(np.uint8), MATMUL, "y is wrapped around at 8 bits, and taken as unsigned"),
        (lambda y: y.astype(np.uint16), MATMUL, "y is taken as unsigned: -1 of 16 bits is 65535"),
        (
            lambda y: np.clip(y, -128, 127),
            MATMUL,
            "y is saturated at -128 and 127, where a number of 8 bits ends",
        ),
        (
            lambda y: np.clip(y, -(2**15), 2**15 - 1),
            "mul[a=7x33;b=7x33;i32]",
            "y is saturated at -32768 and 32767, where a number of 16 bits ends",
        ),
        (np.abs, MATMUL, "y has lost its sign: it is the absolute value of what is expected"),
        (
            lambda y: np.abs(y.view(np.int8)),
            QUANTISED,
            "y has lost its sign: its numbers are the absolute values of what is expected",
        ),
    ],
)
def test_it_is_told(change, case, said):
    assert told(Whole(change), case) == said


@pytest.mark.parametrize(
    ("change", "case"),
    [
        (lambda y: y + np.where(some(y), 2, 1), "add[a=7x33;b=7x33;i32]"),
        (lambda y: np.where(some(y), y.astype(np.int8), y), MATMUL),
        (lambda y: np.clip(y, -100, 100), MATMUL),
        (lambda y: np.where(some(y), np.clip(y, -128, 127), y), MATMUL),
        (lambda y: np.where(some(y), np.abs(y), y), MATMUL),
        (lambda y: np.maximum(y, 0), MATMUL),
        (lambda y: y + np.where(some(y), 1, 3), "argmax[x=64x33;dim=-1;f32]"),
        (lambda y: y + (np.arange(y.size).reshape(y.shape) == 9), "add[a=7x33;b=7x33;i32]"),
    ],
)
def test_what_is_nearly_so_is_not_told(change, case):
    said = told(Whole(change), case)
    for words in ("off by one", "wrapped", "saturated", "sign", "unsigned", "constant is added"):
        assert words not in said


def test_positions_are_not_off_by_one():
    assert told(Whole(lambda y: y + 1), "argmax[x=7x33;dim=-1;f32]") == "a constant is added to y: 1"


class Reads:
    """The numpy backend; its inputs are read otherwise."""

    dtypes = DECLARED

    def __init__(self, how):
        self.how = how

    def forward(self, op, inputs, params):
        (y,) = create().forward(op, [self.how(v) for v in inputs], params)
        return [y.astype(inputs[0].dtype)]


def test_an_input_taken_as_unsigned_is_told():
    unsigned = Reads(lambda v: v.astype(np.int32) % 256)
    said = told(unsigned, "maximum[a=7x33;b=7x33;i8]")
    assert said == "y is right for a and b taken as unsigned: -1 is 255"
    assert told(unsigned, "floor_divide[a=7x33;b=7x33;i8]").endswith("b taken as unsigned: -1 is 255")
    said = told(Reads(lambda v: v.astype(np.int32) % 512), "maximum[a=7x33;b=7x33;i16]")
    assert "unsigned" not in said
    absolute = Reads(lambda v: np.abs(v.astype(np.int64)))
    assert told(absolute, "maximum[a=7x33;b=7x33;i16]") == "y is right for the absolute values of a and b"
