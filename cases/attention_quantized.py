"""Cases of attention_quantized: every type, heads in groups, masks, rows that see nothing, long caches."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import Limit, lengths
from opproof.cases._rows.quantised import BLOCKS, BYTES, nbytes
from opproof.cases._rows.reasons import PRODUCTS, SCORES


def _row(quant: str, heads: tuple[int, int], q: int | str, k: int | str, e: int, rest: str = "", f: int = 0) -> str:
    """One sequence of `heads` and groups; heads of e numbers, values of f where they differ. `rest` may hold keep."""
    keys, values = (nbytes(quant, size) for size in (e, f or e))
    shapes = f"query=1x{heads[0]}x{q}x{e};key=1x{heads[1]}x{k}x{keys};value=1x{heads[1]}x{k}x{values}"
    mask, other = ([p for p in rest.split(";") if p and p.startswith("keep=") == own] for own in (True, False))
    return ";".join([shapes, *mask, f"type={quant}", *other])


SMOKE = [_row("q8_0", (4, 2), 5, 7, 64)]
STANDARD = [
    *(_row(quant, (2, 1), 3, 5, size) for quant, (size, _) in BLOCKS.items()),
    *(_row(quant, (2, 2), 1, 9, size, "fill=wide;scale=0.02") for quant, (size, _) in BLOCKS.items()),
    *(_row(quant, (1, 1), 2, BYTES, size, "f32;fill=every-byte;scale=0.01") for quant, (size, _) in BLOCKS.items()),
    _row("q8_0", (1, 1), 1, 1, 32),
    _row("q4_0", (6, 2), 5, 8, 64, "keep=5x8"),
    _row("q8_0", (3, 3), 7, 9, 96, "keep=1x3x7x9;layout=query:transposed"),
    _row("q8_0", (4, 1), 33, 2, 32, "keep=1x1x33x2;fill=masked"),
    _row("q4_0", (2, 2), 9, 6, 32, "keep=1x2x9x1;fill=masked"),
    _row("q4_1", (4, 2), 3, 6, 64, "layout=key:transposed"),
    _row("q5_0", (2, 1), 3, 6, 32, "layout=value:transposed"),
    _row("q5_1", (2, 2), 4, 5, 32, "layout=permuted"),
    _row("q8_0", (4, 2), 4, 5, 32, "keep=4x5;layout=keep:transposed"),
    _row("q8_0", (4, 2), 4, 5, 32, "keep=4x5;layout=keep:sliced"),
    _row("q8_0", (4, 2), 3, 257, 32, "keep=3x257;fill=padded"),
    _row("q8_0", (4, 2), 3, 37, 32, "keep=3x37;fill=truths"),
    _row("q8_0", (4, 2), 1, 256, 64),
    _row("q8_0", (2, 2), 4, 5, 32, "layout=key:gapped"),
    _row("q4_0", (2, 2), 4, 5, 64, "layout=query:sliced,value:gapped"),
    _row("q8_0", (2, 2), 4, 5, 64, "layout=offset"),
    "query=2x2x4x32;key=2x2x5x34;value=2x2x5x34;type=q8_0;layout=key:broadcast,value:broadcast",
    _row("q4_0", (2, 2), 4, 5, 32, "layout=key:sliced"),
    "query=2x2x4x32;key=2x2x5x18;value=2x2x5x18;type=q4_0;layout=query:broadcast",
    _row("q8_0", (2, 2), 3, 7, 32, "fill=far;scale=1e-06;f32"),
    _row("q8_0", (2, 2), 4, 5, 32, "keep=4x5;layout=keep:offset"),
    _row("q8_0", (2, 2), 3, 5, 64, "", 32),
    _row("q4_0", (2, 1), 3, 5, 32, "", 96),
    _row("q8_0", (2, 2), 4, 6, 32, "scale=0.3;fill=offset;f32,f16"),
    _row("q8_0", (2, 2), 4, 6, 32, "fill=zeros"),
    _row("q8_0", (2, 2), 4, 6, 32, "fill=constant"),
    _row("q4_0", (2, 2), 4, 6, 32, "fill=small"),
    _row("q8_0", (40, 8), 2, 3, 32),
    _row("q8_0", (2, 2), 33, 31, 32),
    _row("q8_0", (2, 2), 3, 129, 128),
    _row("q8_0", (2, 2), 0, 3, 32),
    "query=2x4x5x64;key=2x2x7x68;value=2x2x7x68;keep=2x1x5x7;type=q8_0",
    "query=3x2x2x32;key=3x2x3x18;value=3x2x3x18;type=q4_0;layout=permuted",
]
LAID = [
    "query=2x2x3x32;key=2x2x3x18;value=2x2x3x18;keep=2x2x3x3;type=q4_0;layout=cropped",
    _row("q8_0", (2, 2), 4, 5, 32, "keep=4x5;layout=keep:gapped"),
    _row("q8_0", (2, 2), 4, 5, 32, "keep=4x5;layout=keep:broadcast"),
]
ALIGNED = aligned(
    _row("q8_0", (2, 2), 16, 16, 64),
    _row("q8_0", (4, 2), 64, 64, 64),
    _row("q4_0", (4, 1), 16, 64, 128),
    _row("q4_0", (2, 2), 32, 128, 64),
    _row("q8_0", (8, 2), 16, 64, 256),
    _row("q4_0", (2, 2), 64, 64, 32),
    _row("q8_0", (2, 1), 48, 16, 64, "keep=48x16"),
    _row("q4_1", (2, 2), 16, 32, 64),
)
LONG, LONGEST = lengths(
    "query={n}x1x1x32;key={n}x1x2x18;value={n}x1x2x18;type=q4_0",
    "query=1x{n}x1x32;key=1x{n}x2x18;value=1x{n}x2x18;type=q4_0",
    "!query=1x1x{n}x32;key=1x1x2x18;value=1x1x2x18;keep={n}x2;type=q4_0",
    "query=1x1x2x32;key=1x1x{n}x18;value=1x1x{n}x18;keep=2x{n};type=q4_0",
)
SHAPES = [
    _row("q8_0", (4, 1), 3, 1, 32),
    _row("q8_0", (2, 2), 4, 6, 32, "scale=-0.3"),
    _row("q8_0", (2, 2), 5, 150, 64),
    _row("q8_0", (3, 1), 1, 1031, 64, "f32"),
    _row("q4_0", (2, 1), 1, 263, 128, "f32"),
    "query=2x4x5x32;key=2x1x7x34;value=2x1x7x34;keep=1x4x5x7;type=q8_0",
    "query=2x2x5x32;key=2x2x7x34;value=2x2x7x34;keep=2x2x1x7;type=q8_0",
]
SHORT = {
    **dict.fromkeys(("key.3", "value.3"), Limit(0, "rows of bytes are whole blocks, of 32 or 256 numbers")),
    "query.3": Limit(0, "heads are as long as those of the keys' blocks"),
}
FULL = [_row("q8_0", (4, 1), 3, 4099, 128), _row("q4_0", (2, 2), 513, 513, 64)]
WITHOUT = {
    **PRODUCTS,
    **SCORES,
    "NaN, inf": "of 32 numbers in a block some are special, and no result is finite",
}
