"""Cases of outer_product_quantized: every type, one row and several, one block a row and several, odd numbers."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import Limit, lengths
from opproof.cases._rows.quantised import BLOCKS, BYTES, nbytes
from opproof.cases._rows.reasons import PRODUCTS


def _row(quant: str, k: int | str, m: int | str, n: int, rest: str = "", batch: str = "") -> str:
    return ";".join(p for p in (f"a={batch}{k}x{m}", f"b={k}x{nbytes(quant, n)}", f"type={quant}", rest) if p)


SMOKE = [_row("q4_0", 5, 3, 64)]
STANDARD = [
    *(_row(quant, 5, 3, size) for quant, (size, _) in BLOCKS.items()),
    *(_row(quant, 7, 1, 3 * size, "fill=wide") for quant, (size, _) in BLOCKS.items()),
    *(_row(quant, BYTES, 2, size, "f32;fill=every-byte") for quant, (size, _) in BLOCKS.items()),
    _row("q4_0", 9, 3, 96, "layout=a:transposed", "2x"),
    _row("q8_0", 4, 5, 64, "layout=permuted", "2x3x"),
    _row("q4_1", 33, 5, 32, "layout=a:sliced"),
    _row("q5_0", 31, 5, 64, "layout=b:gapped"),
    _row("q5_1", 17, 4, 64, "layout=offset"),
    _row("q4_k", 5, 3, 256, "layout=b:transposed"),
    _row("q6_k", 3, 4, 256, "layout=a:broadcast", "2x"),
    _row("q4_0", 1, 33, 32),
    _row("q5_1", 35, 33, 32),
    _row("q8_0", 3, 65, 32, "fill=zeros"),
    _row("q4_0", 5, 3, 64, "fill=offset"),
    _row("q8_0", 5, 3, 64, "fill=small;f32,bf16"),
    _row("q5_1", 5, 3, 64, "fill=positive"),
    _row("q8_0", 3, 2, 1056),
    _row("q4_0", 3, 0, 32),
    _row("q4_0", 3, 2, 4128, "f32"),
    "a=5x3;b=5x36;type=q4_0;layout=a:gapped,b:broadcast",
    "a=5x3;b=5x36;type=q4_0;layout=b:sliced",
]
LAID = [_row("q4_0", 5, 3, 64, "layout=cropped", "2x")]
ALIGNED = aligned(
    _row("q4_0", 64, 64, 64),
    _row("q8_0", 64, 64, 128),
    _row("q4_0", 32, 16, 256),
    _row("q4_k", 16, 32, 256),
    _row("q8_0", 64, 64, 64, "", "2x"),
    _row("q6_k", 16, 16, 256),
    _row("q4_1", 64, 48, 64),
    _row("q5_0", 128, 64, 64),
)
LONG, LONGEST = lengths("!" + _row("q8_0", 2, "{n}", 32), _row("q4_0", "{n}", 1, 32))
SHORT = {"b.1": Limit(0, "rows of bytes are whole blocks, of 32 or 256 numbers")}
FULL = [_row("q8_0", 8, 2, 12288), _row("q4_0", 65537, 1, 32)]
WITHOUT = {
    **PRODUCTS,
    "given twice": "one operand is of floats, the other of bytes",
    "NaN, inf": "of 32 numbers in a block some are special, and no result is finite",
}
SHAPES = [
    # whole blocks and no whole tile: of rows, of columns, of what is added up
    _row("q4_0", 17, 67, 160, "f32"),
    _row("q8_0", 33, 70, 224, "f32"),
]
