"""Codes of few bits: what they stand for by hand, how they are drawn, and backends that read them wrongly."""

import numpy as np
import pytest
from _ask import judged

from opproof.cases._fills.random_bits import bits_of
from opproof.core.verdicts import Verdict
from opproof.reference_ops import load
from opproof.reference_ops._codes import ENDS, PER_BYTE, decode, encode, scales, weights

ALL = np.arange(256, dtype=np.uint8)


def float_by_hand(code, exponent_bits, bias, digits):
    """A float of one sign bit, `exponent_bits` and `digits`, without NaN and infinities."""
    sign = -1 if code >> (exponent_bits + digits) else 1
    exponent, rest = (code >> digits) % 2**exponent_bits, code % 2**digits
    size = rest * 2.0 ** (1 - digits) if not exponent else (1 + rest * 2.0**-digits) * 2.0**exponent
    return sign * size * 2.0**-bias


@pytest.mark.parametrize(("kind", "shape"), [("f8e4m3", (4, 7, 3)), ("f8e5m2", (5, 15, 2))])
def test_fp8(kind, shape):
    values = decode(ALL, kind)
    finite = np.isfinite(values)
    assert (~finite).sum() == {"f8e4m3": 2, "f8e5m2": 8}[kind]
    assert values[finite].tolist() == [float_by_hand(int(c), *shape) for c in ALL[finite]]


def test_fp4_and_scales():
    values = decode(ALL, "f4e2m1")
    expected = [float_by_hand(int(c) >> shift & 15, 2, 1, 1) for c in ALL for shift in (0, 4)]
    assert values.tolist() == expected
    assert decode(ALL[[0, 127, 130]], "f8e8m0").tolist() == [2.0**-127, 1, 8]


def test_integers():
    assert decode(np.array([0x80, 0x7F, 0xFF], np.uint8), "i8").tolist() == [-128, 127, -1]
    assert decode(np.array([0x80, 0xFF], np.uint8), "u8").tolist() == [128, 255]
    assert decode(np.array([0x87, 0xF1], np.uint8), "i4").tolist() == [7, -8, 1, -1]


def test_ties_go_to_even_and_what_is_too_large_saturates():
    x = np.array([0.5, 1.5, -2.5, 1000.0, -1000.0, np.inf])
    assert decode(encode(x, "i8"), "i8").tolist() == [0, 2, -2, 127, -128, 127]
    assert decode(encode(x, "u8"), "u8").tolist() == [0, 2, 0, 255, 0, 255]
    between = np.array([1.0625, 1.1875, 464.0, -1e9, np.inf])
    assert decode(encode(between, "f8e4m3"), "f8e4m3").tolist() == [1, 1.25, 448, -448, 448]


@pytest.mark.parametrize("kind", PER_BYTE)
def test_drawn_codes_are_the_same_each_time_and_finite(kind):
    draw = scales(kind) if kind == "f8e8m0" else weights(kind)
    for every in (False, True):
        first, again, other = (draw(bits_of(key), (33, 64), every=every) for key in ("a", "a", "b"))
        assert (first == again).all()
        assert (first != other).any()
        assert np.isfinite(decode(first, kind)).all()
        missing = set(range(256)) - set(first.ravel().tolist())
        assert not every or kind == "f8e8m0" or len(missing) == {"f8e4m3": 2, "f8e5m2": 8}.get(kind, 0)


class Scaled:
    """scaled_matmul with something wrong with the weights' codes or their scales."""

    version = "1"

    def __init__(self, codes=lambda data: data, spread=np.repeat, power=lambda scale: scale):
        self.codes, self.spread, self.power = codes, spread, power

    def forward(self, op, inputs, params):
        x, weight, scale = inputs
        values = decode(self.codes(weight), params["type"])
        if params["scales"] != "float":
            scale = decode(self.power(scale), params["scales"])
        wide = scale if scale.ndim == 0 else self.spread(scale, values.shape[-1] // scale.shape[-1], axis=-1)
        return (x.astype(np.float64) @ (values * wide).T).astype(x.dtype)


WRONG = {
    "nibbles in the other order": (
        Scaled(codes=lambda data: data << 4 | data >> 4), "x=3x64;weight=7x32;scale=7x2;type=i4",
    ),
    "unsigned": (Scaled(codes=lambda data: data & 0x7F), "x=3x64;weight=7x64;scale=7x2;type=i8"),
    "groups interleaved": (
        Scaled(spread=lambda scale, n, axis: np.tile(scale, (1, n))), "x=3x64;weight=7x64;scale=7x2;type=f8e4m3",
    ),
    "a bias of 126": (
        Scaled(power=lambda scale: scale + np.uint8(1)), "x=3x64;weight=5x32;scale=5x2;type=f4e2m1;scales=f8e8m0",
    ),
}  # fmt: skip


@pytest.mark.parametrize("defect", WRONG)
def test_a_wrong_reading_is_found(defect):
    backend, row = WRONG[defect]
    case = f"scaled_matmul[{row};f32]"
    assert judged(Scaled(), case).verdict is Verdict.PASS
    assert judged(backend, case).verdict is Verdict.WRONG_VALUE


def test_scales_per_tensor_row_and_group_are_one_thing():
    weight = weights("i8")(bits_of("w"), (6, 8))
    x = np.random.default_rng(1).standard_normal((3, 8))
    forward = load("scaled_matmul").forward
    whole = forward(x, weight, np.full((6, 4), 0.5), type="i8")
    for scale in (np.array(0.5), np.full((6, 1), 0.5)):
        np.testing.assert_array_equal(forward(x, weight, scale, type="i8"), whole)
    assert set(ENDS) == {"i8", "u8", "i4"}


class Quantizer:
    """quantize_linear of i8 that rounds and ends as it is told."""

    version = "1"

    def __init__(self, rounded=np.rint, ended=lambda q: np.clip(q, -128, 127)):
        self.rounded, self.ended = rounded, ended

    def forward(self, op, inputs, params):
        x, scale, zero_point = inputs
        q = self.rounded(x.astype(np.float64) / scale) + (0 if zero_point is None else zero_point)
        return self.ended(q).astype(np.int64).astype(np.uint8)


def away(q):
    return np.copysign(np.floor(np.abs(q) + 0.5), q)


@pytest.mark.parametrize(
    ("wrong", "fill"),
    [(Quantizer(rounded=away), "halves"), (Quantizer(rounded=np.floor), "wide"), (Quantizer(ended=np.rint), "extreme")],
)
def test_ties_and_saturation_are_tried(wrong, fill):
    case = f"quantize_linear[x=5x64;scale=1x64;type=i8;f32;fill={fill}]"
    assert judged(Quantizer(), case).verdict is Verdict.PASS
    assert judged(wrong, case).verdict is Verdict.WRONG_VALUE


def test_quantising_what_was_dequantised_gives_the_codes_back():
    data = weights("u8")(bits_of("d"), (6, 9))
    scale, zero_point = np.full((6, 3), 0.25), np.full((6, 3), 120)
    values = load("dequantize_linear").forward(data, scale, zero_point, type="u8")
    again = load("quantize_linear").forward(values, scale, zero_point, type="u8")
    np.testing.assert_array_equal(again, data)


class Products:
    """scaled_mm whose rows of b have the scales of those of a."""

    version = "1"

    def forward(self, op, inputs, params):
        a, b = (decode(v, params["type"]) for v in inputs[:2])
        scale = inputs[2]
        return ((a * scale[:, None]) @ (b * scale[:, None]).T).astype(scale.dtype)


def test_the_scales_of_the_other_matrix_are_found():
    case = "scaled_mm[a=5x8;b=5x8;scale_a=5,;scale_b=5,;type=f8e4m3;f32]"
    assert judged(Products(), case).verdict is Verdict.WRONG_VALUE
