"""Cases of set_rows_quantized: every type that gguf encodes, rows out of order, indices shared by batches, all rows."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import Limit, lengths
from opproof.cases._rows.quantised import BLOCKS, BYTES, ENCODED, nbytes


def _row(quant: str, rows: int | str, m: int | str, values: int, rest: str = "", batch: str = "") -> str:
    indices = "" if "indices=" in rest else f"indices={batch}{m}" + ("" if batch else ",")
    own, others = ([p for p in rest.split(";") if p and p.startswith("indices=") is given] for given in (True, False))
    tensors = f"x={batch}{rows}x{nbytes(quant, values)};source={batch}{m}x{values}"
    return ";".join(p for p in (tensors, indices, *own, f"type={quant}", *others) if p)


#: Computed in float32: float64 inputs would first lose digits.
SMOKE = [_row("q8_0", 7, 3, 64, "f32")]
STANDARD = [
    *(_row(quant, 5, 3, 2 * BLOCKS[quant][0]) for quant in ENCODED),
    *(_row(quant, 4, 2, BLOCKS[quant][0], "fill=wide") for quant in ENCODED),
    *(_row(quant, BYTES, 3, BLOCKS[quant][0], "f32;fill=every-byte") for quant in BLOCKS if quant in ENCODED),
    _row("q8_0", 7, 3, 64, "inplace=x;f32"),
    _row("q8_0", 9, 4, 32, "layout=x:gapped;inplace=x;f32"),
    _row("q8_0", 1, 1, 32),
    _row("q4_0", 9, 3, 96, batch="2x"),
    _row("q4_1", 8, 2, 32, "layout=x:transposed", batch="3x"),
    _row("q5_0", 7, 2, 64, "layout=source:permuted", batch="2x3x"),
    _row("q8_0", 7, 3, 32, "layout=source:transposed", batch="2x"),
    _row("q8_0", 5, 3, 32, "layout=indices:transposed", batch="2x"),
    _row("q8_0", 9, 4, 64, "layout=source:sliced"),
    _row("q4_0", 9, 4, 64, "layout=source:gapped,indices:gapped", batch="2x"),
    _row("q4_0", 9, 4, 64, "layout=x:sliced"),
    _row("q5_1", 9, 4, 32, "layout=offset"),
    _row("q8_0", 6, 2, 32, "layout=x:broadcast", batch="5x"),
    _row("q8_0", 7, 3, 32, "layout=source:broadcast"),
    _row("q8_0", 8, 2, 32, "layout=indices:broadcast", batch="3x"),
    _row("q4_0", 7, 2, 32, "layout=indices:permuted", batch="2x3x"),
    _row("q8_0", 9, 4, 32, "layout=indices:sliced", batch="2x"),
    "x=2x9x34;source=2x4x32;indices=4,;type=q8_0",
    _row("q8_0", 9, 9, 32),
    _row("q4_0", 12, 3, 32, "fill=extreme"),
    _row("q8_0", 12, 3, 64, "fill=zeros"),
    _row("q4_1", 12, 3, 32, "fill=negative"),
    _row("q5_0", 12, 3, 32, "fill=constant"),
    _row("q8_0", 5, 0, 32),
    _row("q8_0", 130, 33, 32),
    _row("q8_0", 5, 2, 1056),
    _row("q8_0", 4099, 66, 32),
    *(_row(quant, 15, 13, BLOCKS[quant][0], "fill=lone") for quant in ENCODED),
]
LAID = [
    _row("q4_0", 5, 3, 64, "layout=cropped", batch="2x"),
    _row("q4_0", 7, 2, 32, "layout=indices:cropped", batch="2x3x"),
    _row("q8_0", 7, 1, 32, "layout=indices:offset"),
]
ALIGNED = aligned(
    _row("q4_0", 32, 16, 64),
    _row("q8_0", 64, 16, 128),
    _row("q8_0", 16, 16, 64),
    _row("q4_1", 32, 16, 256),
    _row("q8_0", 32, 16, 64, batch="2x"),
    _row("q5_0", 48, 32, 64),
    _row("q8_0", 32, 16, 32, batch="2x"),
    _row("q5_1", 64, 48, 64),
)
LONG, LONGEST = lengths(
    "!x={n}x34;source=3x32;indices=3,;type=q8_0",
    "x={n}x2x34;source={n}x1x32;indices={n}x1;type=q8_0",
    "x={n}x34;source={n}x32;indices={n},;type=q8_0",
)
SHORT = dict.fromkeys(("x.last", "source.last"), Limit(0, "rows are whole blocks, of 32 or 256 numbers"))
FULL = [_row("q8_0", 5, 2, 12288), _row("q8_0", 65537, 300, 32)]
WITHOUT = {"NaN, inf": "what a block with NaN becomes is no rule that libraries share"}
