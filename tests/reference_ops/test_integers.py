"""Sums of products of 8-bit integers: by hand, drawn so that ties are certain, and backends that are wrong."""

import numpy as np
import pytest
from _ask import judged

from opproof.cases._fills.random_bits import bits_of
from opproof.core.dtypes import DTYPES, round_to
from opproof.core.verdicts import Verdict
from opproof.reference_ops import load
from opproof.reference_ops._integers import centred, requantized, scales

INTEGERS = "matmul_integer[a=16x31;b=31x17;a_zero_point=0d;b_zero_point=0d;type=u8;b_type=i8;f32{}]"


def of_bytes(values):
    return np.array(values, dtype=np.int64).astype(np.uint8)


def test_products_by_hand():
    a, b = of_bytes([[1, -2]]), of_bytes([[3], [100]])
    forward = load("matmul_integer").forward
    assert forward(a, b, type="i8", b_type="i8").tolist() == [[-197]]
    assert forward(a, b, type="u8", b_type="i8").tolist() == [[3 + 254 * 100]]
    assert forward(a, b, np.array(1), np.array([4]), type="i8", b_type="i8").tolist() == [[-3 * 96]]


def test_ties_go_to_even_and_what_is_too_large_saturates():
    sums = np.array([1.0, 3.0, -1.0, 1000.0, -1000.0])
    assert requantized(sums, 0.5, np.array(10), "u8").tolist() == [10, 12, 10, 255, 0]
    assert requantized(sums, 0.5, np.array(-3), "i8").view(np.int8).tolist() == [-3, -1, -3, 127, -128]


def test_padding_is_the_zero_point():
    x, weight = of_bytes([[[[7]]]]), of_bytes([[[[1, 1], [1, 1]]]])
    y = load("conv_integer").forward(x, weight, np.array(5), type="u8", weight_type="u8", padding=1)
    assert y.tolist() == [[[[2, 2], [2, 2]]]]


def test_scales_are_exact_in_every_dtype():
    drawn = scales(33, fine=True)(bits_of("s"), (64,))
    assert len(np.unique(drawn)) == 3
    np.testing.assert_array_equal(drawn.astype(np.float16), drawn)


def test_scales_of_few_products_are_no_numbers_of_16_bits():
    fine, coarse = (scales(3, fine=fine)(bits_of("s"), (64,)) for fine in (True, False))
    assert len(np.unique(fine)) == 3
    assert np.all(round_to(fine, DTYPES["bf16"]) != fine)
    for drawn in (fine, coarse):
        np.testing.assert_array_equal(drawn.astype(np.float32), drawn)
        assert not drawn.astype(np.float16).any()


class Integers:
    """The four operators with something wrong: how sums are made, scaled, rounded or stored."""

    version = "1"

    def __init__(self, summed=np.matmul, rounded=np.rint, ended=lambda q: np.clip(q, -128, 127), zero=lambda z: z):
        self.summed, self.rounded, self.ended, self.zero = summed, rounded, ended, zero

    def forward(self, op, inputs, params):
        if op == "matmul_integer":
            a, b, *zeros = inputs
            return self.products(a, b, zeros, params).astype(np.int64)
        a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero = inputs
        sums = self.products(a, b, (a_zero, b_zero), params)
        codes = self.ended(self.rounded(sums * (a_scale.astype(np.float64) * b_scale / y_scale)) + y_zero)
        return codes.astype(np.int64).astype(np.uint8)

    def products(self, a, b, zeros, params):
        left, right = centred(a, zeros[0], params["type"]), centred(b, self.zero(zeros[1]), params["b_type"])
        return self.summed(left, right)


def saturating(a, b):
    """Pairs of products added up in 16 bits, as vpmaddubsw does; the rest of zero points aside."""
    products = a[:, :, None] * b[None]
    return sum(np.clip(products[:, i : i + 2].sum(axis=1), -(2**15), 2**15 - 1) for i in range(0, b.shape[0], 2))


def away(q):
    return np.copysign(np.floor(np.abs(q) + 0.5), q)


def test_sums_that_saturate_in_16_bits_are_found_by_every_byte_alone():
    every = INTEGERS.format(";fill=every-byte")
    assert judged(Integers(), every).verdict is Verdict.PASS
    assert judged(Integers(summed=saturating), INTEGERS.format("")).verdict is Verdict.PASS
    assert judged(Integers(summed=saturating), every).verdict is Verdict.WRONG_VALUE


def test_a_sum_that_is_off_by_one_is_found():
    wrong = Integers(summed=lambda a, b: np.matmul(a, b) + 1)
    assert judged(wrong, INTEGERS.format("")).verdict is Verdict.WRONG_VALUE


WRONG = {
    "ties away from zero": Integers(rounded=away),
    "truncated": Integers(rounded=np.trunc),
    "stored without saturation": Integers(ended=lambda q: q),
    "the zero point of the first column for all": Integers(zero=lambda z: z[:1]),
    "a zero point left out": Integers(zero=np.zeros_like),
}
TIES = (
    "qlinear_matmul[a=64x4;a_scale=0d;a_zero_point=0d;b=4x64;b_scale=64,;b_zero_point=64,;y_scale=0d;y_zero_point=0d;"
    "type=i8;b_type=i8;f32]"
)


@pytest.mark.parametrize("defect", WRONG)
def test_a_wrong_result_is_found(defect):
    case = TIES
    assert judged(Integers(), case).verdict is Verdict.PASS
    assert judged(WRONG[defect], case).verdict is Verdict.WRONG_VALUE


class Convolution:
    """conv_integer that pads with 0, not with the zero point."""

    version = "1"

    def forward(self, op, inputs, params):
        x, weight, zero, other = inputs
        pads = [(0, 0), (0, 0), (1, 1), (1, 1)]
        padded = np.pad(x, pads)
        return load(op).forward(padded, weight, zero, other, **{**params, "padding": 0})


def test_padding_with_0_is_found():
    case = "conv_integer[x=2x3x7x9;weight=4x3x3x3;x_zero_point=0d;weight_zero_point=4,;{}type=u8;weight_type=i8;f32]"
    assert judged(Convolution(), case.format("padding=1;")).verdict is Verdict.WRONG_VALUE


class Codes:
    """qlinear_conv that adds its bias after scaling."""

    version = "1"

    def forward(self, op, inputs, params):
        *given, bias = inputs
        if bias is None:
            return load(op).forward(*given, **params)
        moved = given[7] + np.rint(bias.mean())
        return load(op).forward(*given[:7], moved, **params)


def test_a_bias_in_other_units_is_found():
    case = (
        "qlinear_conv[x=2x3x7x9;x_scale=0d;x_zero_point=0d;weight=4x3x3x3;weight_scale=4,;weight_zero_point=4,;"
        "y_scale=0d;y_zero_point=0d;{}padding=1;type=u8;weight_type=i8;f32]"
    )
    assert judged(Codes(), case.format("")).verdict is Verdict.PASS
    assert judged(Codes(), case.format("bias=4,;")).verdict is Verdict.WRONG_VALUE
