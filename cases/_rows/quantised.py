"""Quantised types of ggml: values and bytes of a block, as the shapes of bytes in case rows need them."""

from __future__ import annotations

#: type: (values, bytes) of a block; a test compares them with those that decode.
BLOCKS: dict[str, tuple[int, int]] = {
    "q4_0": (32, 18),
    "q4_1": (32, 20),
    "q5_0": (32, 22),
    "q5_1": (32, 24),
    "q8_0": (32, 34),
    "mxfp4": (32, 17),
    "iq4_nl": (32, 18),
    "q2_k": (256, 84),
    "q3_k": (256, 110),
    "q4_k": (256, 144),
    "q5_k": (256, 176),
    "q6_k": (256, 210),
    "iq4_xs": (256, 136),
    "tq1_0": (256, 54),
    "tq2_0": (256, 66),
    "q8_1": (32, 36),
    "q1_0": (128, 18),
    "nvfp4": (64, 36),
    "iq1_s": (256, 50),
    "iq1_m": (256, 56),
    "iq2_xxs": (256, 66),
    "iq2_xs": (256, 74),
    "iq2_s": (256, 82),
    "iq3_xxs": (256, 98),
    "iq3_s": (256, 110),
}

#: Those in which values can be stored, not only read.
ENCODED = ("q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "q8_1", "mxfp4", "tq1_0", "tq2_0")
#: Those whose blocks have f16 scales of their own.
SCALED = tuple(quant for quant in BLOCKS if quant not in ("q8_1", "mxfp4", "nvfp4", "iq1_m"))

#: Of so many blocks each byte takes all its values.
BYTES = 256
#: Columns of one token's product: more than 512, and a multiple of nothing; and few of a long sum, past a whole tile.
MANY_COLUMNS, SOME_COLUMNS = 515, 67
#: Terms of a long sum.
TERMS = 1024


def decoding() -> list[tuple[str, int, int]]:
    """Types, terms and columns of the product of one token, as decoding has it: many columns, and many terms."""
    many = [(quant, size, MANY_COLUMNS) for quant, (size, _) in BLOCKS.items()]
    return [*many, *((quant, (TERMS // size + 1) * size, SOME_COLUMNS) for quant, (size, _) in BLOCKS.items())]


def nbytes(quant: str, values: int) -> int:
    """Bytes of a row of `values`, whole blocks."""
    size, stored = BLOCKS[quant]
    assert values % size == 0, (quant, values)
    return values // size * stored
