"""Cases of dequantize: every type, one block a row and several, rows that are not contiguous."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import Limit, lengths
from opproof.cases._rows.quantised import BLOCKS, BYTES, SCALED

SMOKE = ["data=3x36;type=q4_0;f32"]
STANDARD = [
    *(f"data=5x{stored};type={quant};f32" for quant, (_, stored) in BLOCKS.items()),
    *(f"data=2x3x{3 * stored};type={quant};f32;layout=gapped" for quant, (_, stored) in BLOCKS.items()),
    *(f"data={BYTES}x{stored};type={quant};f32;fill=every-byte" for quant, (_, stored) in BLOCKS.items()),
    "data=34,;type=q8_0;f32",
    "data=7x18;type=q4_0;f32;layout=transposed",
    "data=4x24;type=q5_1;f32;layout=offset",
    "data=2x3x40;type=q4_1;f32;layout=permuted",
    "data=0x18;type=q4_0;f32",
    "data=130x17;type=mxfp4;f32",
    "data=2x1122;type=q8_0;f32",
    "data=33x18;type=q4_0;f32;layout=sliced",
    "data=5x34;type=q8_0;f32;layout=broadcast",
]
LAID = ["data=2x3x36;type=q4_0;f32;layout=cropped"]
ALIGNED = aligned(
    "data=16x36;type=q4_0;f32",
    "data=64x34;type=q8_0;f32",
    "data=16x144;type=q4_k;f32",
    "data=32x210;type=q6_k;f32",
    "data=2x16x72;type=q4_0;f32",
    "data=16x136;type=q8_0;f32",
    "data=48x40;type=q4_1;f32",
)
LONG, LONGEST = lengths("data={n}x18;type=q4_0;f32")
SHORT = {"data.last": Limit(0, "rows of bytes are whole blocks")}
FULL = ["data=2x13056;type=q8_0;f32", "data=65537x18;type=q4_0;f32"]
SHAPES = [
    *(f"data=5x{BLOCKS[quant][1]};type={quant};f32;fill=small-scales" for quant in SCALED),
]
