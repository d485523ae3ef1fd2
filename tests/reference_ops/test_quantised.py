"""Quantised tensors: blocks drawn from bits alone, the table of blocks, and what decoding means."""

import numpy as np
import pytest

from opproof.cases._data import bits_of
from opproof.cases._quant import BLOCKS, ENCODED
from opproof.reference_ops import load
from opproof.reference_ops._quant import block, blocks, decode, encode


def test_the_table_of_blocks_is_that_of_gguf():
    assert {quant: block(quant) for quant in BLOCKS} == BLOCKS


def test_an_unknown_type_is_named():
    with pytest.raises(ValueError, match="q9_9"):
        block("q9_9")


@pytest.mark.parametrize("quant", BLOCKS)
def test_drawn_blocks_are_the_same_each_time_and_mean_weights(quant):
    shape = (5, 2 * BLOCKS[quant][1])
    first, again, other = (blocks(quant)(bits_of(key), shape) for key in ("a", "a", "b"))
    assert first.dtype == np.uint8
    assert first.shape == shape
    assert (first == again).all()
    assert (first != other).any()
    values = decode(first, quant)
    assert values.shape == (5, 2 * BLOCKS[quant][0])
    assert np.isfinite(values).all()
    assert 2**-3 <= np.abs(values).max() <= 2**3


@pytest.mark.parametrize("quant", ENCODED)
def test_encoding_what_was_decoded_gives_the_same_values(quant):
    values = decode(blocks(quant)(bits_of("weights"), (3, BLOCKS[quant][1])), quant)
    np.testing.assert_allclose(decode(encode(values, quant), quant), values, rtol=0.3, atol=0.3)


def test_a_product_is_that_of_the_decoded_weights():
    b = blocks("q4_k")(bits_of("b"), (5, 144))
    a = np.random.default_rng(3).standard_normal((2, 256))
    np.testing.assert_allclose(
        load("matmul_quantized").forward(a, b, type="q4_k"), a @ decode(b, "q4_k").astype(np.float64).T
    )
