"""Cases of mul_mat_id_quantized: every type, experts chosen by nobody and by many, one vector for all or several."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import Limit, lengths
from opproof.cases._rows.quantised import BLOCKS, BYTES, SCALED, decoding, nbytes
from opproof.cases._rows.reasons import PRODUCTS


def _row(quant: str, experts: int | str, m: int | str, k: int | str, b: str, ids: str, rest: str = "") -> str:
    stored = nbytes(quant, k) if isinstance(k, int) else k
    return ";".join(p for p in (f"a={experts}x{m}x{stored}", f"b={b}x{k}", f"ids={ids}", f"type={quant}", rest) if p)


SMOKE = [_row("q4_0", 4, 5, 64, "3x2", "3x2")]
STANDARD = [
    *(_row(quant, 3, 5, size, "2x2", "2x2") for quant, (size, _) in BLOCKS.items()),
    *(_row(quant, 4, 3, 2 * size, "3x1", "3x2", "fill=wide") for quant, (size, _) in BLOCKS.items()),
    *(_row(quant, 2, BYTES // 2, size, "2x1", "2x2", "f32;fill=every-byte") for quant, (size, _) in BLOCKS.items()),
    _row("q8_0", 1, 1, 32, "1x1", "1x1"),
    _row("q4_0", 8, 3, 96, "5x2", "5x2", "layout=b:transposed"),
    _row("q8_0", 4, 5, 32, "6x3", "6x3", "layout=ids:transposed"),
    _row("q4_1", 4, 5, 64, "6x2", "6x2", "layout=permuted"),
    _row("q5_0", 4, 31, 32, "6x1", "6x3", "layout=a:gapped"),
    _row("q4_k", 2, 5, 256, "3x2", "3x2", "layout=a:transposed"),
    _row("q6_k", 3, 4, 256, "3x2", "3x2", "layout=offset"),
    _row("q4_0", 5, 9, 32, "33x2", "33x2", "layout=b:sliced"),
    _row("q8_0", 33, 2, 32, "65x1", "65x2"),
    _row("q8_0", 4, 5, 64, "6x2", "6x2", "layout=b:broadcast"),
    _row("q5_1", 3, 35, 32, "4x2", "4x2", "fill=positive"),
    _row("q8_0", 3, 5, 64, "3x2", "3x2", "fill=small;f32,bf16"),
    _row("q4_0", 3, 5, 64, "3x2", "3x2", "fill=offset"),
    _row("q8_0", 3, 5, 64, "3x2", "3x2", "fill=zeros"),
    _row("q4_0", 3, 4, 32, "0x2", "0x2"),
    _row("q8_0", 2, 3, 1056, "2x2", "2x2"),
    _row("q4_0", 2, 3, 4128, "2x2", "2x2", "f32"),
    _row("q4_0", 4, 5, 64, "3x2", "3x2", "layout=a:broadcast,b:gapped,ids:broadcast"),
    _row("q4_0", 4, 5, 64, "3x2", "3x2", "layout=a:sliced,ids:gapped"),
    _row("q8_0", 4, 5, 32, "6x3", "6x3", "layout=ids:sliced"),
]
LAID = [
    _row("q4_0", 4, 3, 64, "3x2", "3x2", "layout=cropped"),
    _row("q4_0", 4, 3, 32, "1x1", "1x1", "layout=ids:offset"),
]
ALIGNED = aligned(
    _row("q4_0", 4, 64, 64, "16x2", "16x2"),
    _row("q8_0", 8, 64, 64, "16x2", "16x2"),
    _row("q4_0", 4, 64, 128, "32x1", "32x1"),
    _row("q8_0", 2, 128, 64, "16x1", "16x2"),
    _row("q4_k", 4, 16, 256, "16x2", "16x2"),
    _row("q6_k", 4, 32, 256, "16x1", "16x2"),
    _row("q4_1", 3, 64, 64, "16x4", "16x4"),
    _row("q5_0", 8, 32, 64, "64x1", "64x1"),
)
LONG, LONGEST = lengths(
    "!a={n}x1x18;b=3x2x32;ids=3x2;type=q4_0",
    "a=2x{n}x18;b=3x1x32;ids=3x1;type=q4_0",
    "a=3x2x18;b={n}x1x32;ids={n}x1;type=q4_0",
    "a=3x2x18;b=1x{n}x32;ids=1x{n};type=q4_0",
)
SHORT = {
    "a.2": Limit(0, "rows of bytes are whole blocks, of 32 or 256 numbers"),
    "b.2": Limit(0, "its rows are as long as those of the blocks"),
}
FULL = [_row("q8_0", 2, 3, 12288, "2x2", "2x2"), _row("q4_0", 8, 2, 32, "65537x1", "65537x2", "f32")]
WITHOUT = {
    **PRODUCTS,
    "NaN, inf": "of 32 numbers in a block some are special, and no result is finite",
}
SHAPES = [
    # whole blocks and no whole tile: of rows, of columns, of what is added up
    _row("q4_0", 3, 67, 160, "17x2", "17x2", "f32"),
    _row("q8_0", 2, 70, 224, "33x1", "33x2", "f32"),
    *(_row(quant, 2, 5, BLOCKS[quant][0], "2x2", "2x2", "f32;fill=small-scales") for quant in SCALED),
    *(_row(quant, 2, n, k, "1x1", "1x2", "f32") for quant, k, n in decoding()),
]
