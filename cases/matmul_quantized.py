"""Cases of matmul_quantized: every type, one token and several, one block a row and several, odd numbers of rows."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import Limit, lengths
from opproof.cases._rows.quantised import BLOCKS, BYTES, SCALED, decoding, nbytes
from opproof.cases._rows.reasons import PRODUCTS


def _row(quant: str, a: str, k: int, n: int | str, rest: str = "") -> str:
    return ";".join(p for p in (f"a={a}x{k}", f"b={n}x{nbytes(quant, k)}", f"type={quant}", rest) if p)


SMOKE = [_row("q4_0", "3", 64, 5)]
STANDARD = [
    *(_row(quant, "3", size, 5) for quant, (size, _) in BLOCKS.items()),
    *(_row(quant, "1", 3 * size, 7, "fill=wide") for quant, (size, _) in BLOCKS.items()),
    *(_row(quant, "2", size, BYTES, "f32;fill=every-byte") for quant, (size, _) in BLOCKS.items()),
    _row("q4_0", "2x3", 96, 9, "layout=a:transposed"),
    _row("q8_0", "2x3x5", 64, 4, "layout=permuted"),
    _row("q4_1", "5", 32, 33, "layout=a:sliced"),
    _row("q5_0", "5", 64, 31, "layout=b:gapped"),
    _row("q5_1", "4", 64, 17, "layout=offset"),
    _row("q4_k", "3", 256, 5, "layout=b:transposed"),
    _row("q6_k", "4x2", 256, 3, "layout=a:broadcast"),
    _row("q4_0", "33", 32, 1),
    _row("q5_1", "33", 32, 35),
    _row("q8_0", "65", 32, 3, "fill=zeros"),
    _row("q4_0", "3", 64, 5, "fill=offset"),
    _row("q8_0", "3", 64, 5, "fill=small;f32,bf16"),
    _row("q5_1", "3", 64, 5, "fill=positive"),
    _row("q8_0", "2", 1056, 3),
    _row("q4_0", "0", 32, 3),
    _row("q4_0", "2", 4128, 3, "f32"),
    "a=3x64;b=5x36;type=q4_0;layout=a:gapped,b:broadcast",
    "a=3x64;b=5x36;type=q4_0;layout=b:sliced",
]
LAID = [_row("q4_0", "2x3", 64, 5, "layout=cropped")]
ALIGNED = aligned(
    _row("q4_0", "64", 64, 64),
    _row("q8_0", "64", 128, 64),
    _row("q4_0", "16", 256, 32),
    _row("q4_k", "32", 256, 16),
    _row("q8_0", "2x64", 64, 64),
    _row("q6_k", "16", 256, 16),
    _row("q4_1", "48", 64, 64),
    _row("q5_0", "64", 64, 128),
)
LONG, LONGEST = lengths("!" + _row("q8_0", "{n}", 32, 2), _row("q4_0", "1", 32, "{n}"))
SHORT = {
    "a.last": Limit(0, "rows of bytes are whole blocks, of 32 or 256 numbers"),
    "b.1": Limit(0, "rows of bytes are whole blocks, of 32 or 256 numbers"),
}
FULL = [_row("q8_0", "2", 12288, 8), _row("q4_0", "1", 32, 65537)]
WITHOUT = {
    **PRODUCTS,
    "given twice": "one operand is of floats, the other of bytes",
    "NaN, inf": "of 32 numbers in a block some are special, and no result is finite",
}
SHAPES = [
    # whole blocks and no whole tile: of rows, of columns, of what is added up
    _row("q4_0", "17", 160, 67, "f32"),
    _row("q8_0", "2x33", 224, 70, "f32"),
    *(_row(quant, "3", BLOCKS[quant][0], 5, "f32;fill=small-scales") for quant in SCALED),
    *(_row(quant, "1", k, n, "f32") for quant, k, n in decoding()),
]
