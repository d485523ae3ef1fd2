"""Quantised tensors: blocks drawn from bits alone, the table of blocks, and what decoding means."""

import numpy as np
import pytest
from _ask import judged

from opproof.cases import cases_of
from opproof.cases._fills.random_bits import bits_of
from opproof.cases._rows.quantised import BLOCKS, BYTES, ENCODED
from opproof.core.verdicts import Verdict
from opproof.reference_ops import load
from opproof.reference_ops._quant import block, blocks, decode, encode


def test_the_table_of_blocks_is_that_of_gguf():
    assert {quant: block(quant) for quant in BLOCKS} == BLOCKS


def test_what_gguf_does_not_decode():
    """By hand: 1.5 and (unused) its sum, then signed bytes; 0.5, then bits from the lowest."""
    of_bytes = np.array([0x00, 0x3E, 0, 0, 0x80, 0x7F, 0xFF, *[0] * 29], dtype=np.uint8)
    np.testing.assert_array_equal(decode(of_bytes[None], "q8_1")[0, :4], [-192, 190.5, -1.5, 0])
    of_bits = np.array([0x00, 0x38, 0b101, *[0] * 14, 0x80], dtype=np.uint8)
    values = decode(of_bits[None], "q1_0")[0]
    assert (values[:4].tolist(), values[-1], values.sum()) == ([0.5, -0.5, 0.5, -0.5], 0.5, -61)


def test_q8_1_keeps_the_sum_of_its_codes():
    x = np.array([[127.0, 0.5, -0.5, *[0.0] * 29], [0.0] * 32])
    found = encode(x, "q8_1")
    assert found[0, 4:7].view(np.int8).tolist() == [127, 1, -1]
    assert found[0, :4].view(np.float16).tolist() == [1, 127]
    assert not found[1].any()


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


@pytest.mark.parametrize("quant", BLOCKS)
def test_every_value_of_every_byte(quant):
    """But of scales: numbers stay those of weights where they are added up, and only an 8-bit scale leaves them."""
    shape = (BYTES, BLOCKS[quant][1])
    for summed in (True, False):
        found = blocks(quant, summed=summed)(bits_of("a"), shape, every=True)
        whole = [place for place in range(shape[1]) if len(np.unique(found[:, place])) == BYTES]
        scales = set(range(shape[1])) - set(whole)
        assert len(scales) in ({1, 2, 4} if summed else {0, 2, 4})
        values = decode(found, quant)
        if quant == "mxfp4" and not summed:
            assert np.isinf(values).any()
        elif quant == "nvfp4" and not summed:
            assert np.abs(values).max() == 6 * 480  # the largest code of a scale, whose sign bit counts for nothing
        else:
            assert 2**-3 <= np.abs(values).max() < 2**8
    other = blocks(quant)(bits_of("b"), shape, every=True)
    assert (found != other).any(axis=0).mean() > 0.9


def test_a_code_that_no_encoder_writes_is_tried():
    """-128 of q8_0, which a decoder may take for -127, or an absolute value for itself."""

    class Saturating:
        version = "1"

        def forward(self, op, inputs, params):
            data = inputs[0].copy()
            codes = data.reshape(-1, 34)[:, 2:]
            codes[codes == 0x80] = 0x81
            return decode(data, params["type"])

    rows = [c for c in cases_of("dequantize") if c.kwargs["type"] == "q8_0"]
    verdicts = {str(c): judged(Saturating(), str(c)).verdict for c in rows}
    assert {v for c, v in verdicts.items() if "every-byte" not in c} == {Verdict.PASS}
    assert [v for c, v in verdicts.items() if "every-byte" in c] == [Verdict.WRONG_VALUE]


def test_a_product_is_that_of_the_decoded_weights():
    b = blocks("q4_k")(bits_of("b"), (5, 144))
    a = np.random.default_rng(3).standard_normal((2, 256))
    np.testing.assert_allclose(
        load("matmul_quantized").forward(a, b, type="q4_k"), a @ decode(b, "q4_k").astype(np.float64).T
    )


class Dequantising:
    """Products of what the bytes stand for, or of what `read` makes of the operator's tensors before."""

    version = "1"

    def __init__(self, read):
        self.read = read

    def forward(self, op, inputs, params):
        given = self.read(
            op, [x if x is None or x.dtype.kind in "iu" else x.astype(np.float32) for x in inputs], params
        )
        return load(op).forward(*given, **params)


def as_given(op, inputs, params):
    del op, params
    return inputs


def in_blocks_of_8_bits(op, inputs, params):
    """Queries, or vectors, as ggml rounds them."""
    del params
    at = load(op).tensors.index(load(op).like)
    return [decode(encode(x, "q8_0"), "q8_0") if i == at else x for i, x in enumerate(inputs)]


def of_the_next_row(op, inputs, params):
    """Bytes of another key, or of another row of every matrix."""
    del op, params
    first = next(i for i, x in enumerate(inputs) if x is not None and x.dtype == np.uint8)
    return [np.roll(x, 1, axis=-2) if i == first else x for i, x in enumerate(inputs)]


def with_halved_scale(op, inputs, params):
    del op, params
    changed = [x.copy() if x is not None and x.dtype == np.uint8 else x for x in inputs]
    for x in changed:
        if x is not None and x.dtype == np.uint8:
            x.reshape(-1, 34)[-1, 1] ^= 0x04  # a bit of the exponent of one block's scale
    return changed


QUANTISED = {
    "attention_quantized": "[query=1x4x5x64;key=1x2x7x68;value=1x2x7x68;type=q8_0;f32]",
    "mul_mat_id_quantized": "[a=4x5x68;b=3x4x64;ids=3x4;type=q8_0;f32]",
}


@pytest.mark.parametrize("op", QUANTISED)
@pytest.mark.parametrize(
    ("read", "verdict"),
    [
        (as_given, Verdict.PASS),
        (in_blocks_of_8_bits, Verdict.WRONG_VALUE),
        (of_the_next_row, Verdict.WRONG_VALUE),
        (with_halved_scale, Verdict.WRONG_VALUE),
    ],
)
def test_a_cache_and_experts_in_blocks(op, read, verdict):
    assert judged(Dequantising(read), op + QUANTISED[op]).verdict == verdict


def test_queries_in_blocks_of_8_bits_pass_where_they_are_declared():
    backend = Dequantising(in_blocks_of_8_bits)
    backend.compute = lambda op, dtype, mode: "q8"
    for op, case in QUANTISED.items():
        assert judged(backend, op + case).verdict == Verdict.PASS


def test_rows_set_in_a_quantised_cache():
    """Untouched rows keep their bytes, also such as no encoder writes; a code off by one is wrong."""

    class Cache:
        version = "1"

        def __init__(self, off):
            self.off = off

        def forward(self, op, inputs, params):
            x, source, indices = inputs
            y = x.copy()
            y[indices] = encode(source, params["type"])
            y[indices[0], 5] += self.off
            return y

    case = "set_rows_quantized[x=9x34;source=4x32;indices=4,;type=q8_0;f32]"
    assert judged(Cache(0), case).verdict == Verdict.PASS
    assert judged(Cache(1), case).verdict == Verdict.WRONG_VALUE
