"""Cases of embedding_quantized: every type, rows named twice and out of order, rows that are not contiguous."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import Limit, lengths
from opproof.cases._rows.quantised import BLOCKS, BYTES, SCALED

SMOKE = ["weight=7x36;indices=5,;type=q4_0;f32"]
STANDARD = [
    *(f"weight=6x{2 * stored};indices=7,;type={quant};f32" for quant, (_, stored) in BLOCKS.items()),
    *(f"weight={BYTES}x{n};indices=513,;type={quant};f32;fill=every-byte" for quant, (_, n) in BLOCKS.items()),
    "weight=5x34;indices=2x3;type=q8_0;f32;layout=weight:transposed",
    "weight=5x18;indices=3x4;type=q4_0;f32;layout=indices:transposed",
    "weight=9x40;indices=4,;type=q4_1;f32;layout=gapped",
    "weight=9x22;indices=11,;type=q5_0;f32;layout=indices:sliced",
    "weight=9x144;indices=3,;type=q4_k;f32;layout=offset",
    "weight=1x34;indices=5,;type=q8_0;f32",
    "weight=4x18;indices=0,;type=q4_0;f32",
    "weight=130x17;indices=65,;type=mxfp4;f32",
    "weight=3x1122;indices=4,;type=q8_0;f32",
    "weight=9x36;indices=3x33;type=q4_0;f32;layout=weight:sliced,indices:gapped",
    "weight=9x18;indices=3x4;type=q4_0;f32;layout=indices:broadcast",
    "weight=9x18;indices=5,;type=q4_0;f32;layout=weight:broadcast",
    "weight=9x18;indices=2x3x4;type=q4_0;f32;layout=indices:permuted",
    "weight=4099x18;indices=66,;type=q4_0;f32",
]
LAID = [
    "weight=9x18;indices=2x3x4;type=q4_0;f32;layout=indices:cropped",
    "weight=9x18;indices=1,;type=q4_0;f32;layout=indices:offset",
]
ALIGNED = aligned(
    "weight=16x36;indices=16,;type=q4_0;f32",
    "weight=32x68;indices=32,;type=q8_0;f32",
    "weight=16x144;indices=16,;type=q4_k;f32",
    "weight=16x210;indices=48,;type=q6_k;f32",
    "weight=64x34;indices=16,;type=q8_0;f32",
    "weight=16x136;indices=2x16;type=q8_0;f32",
    "weight=16x288;indices=16,;type=q4_k;f32",
)
LONG, LONGEST = lengths(
    "!weight={n}x18;indices=3,;type=q4_0;f32",
    "weight=3x18;indices={n}x1;type=q4_0;f32",
    "weight=3x18;indices=1x{n};type=q4_0;f32",
)
SHORT = {"weight.1": Limit(0, "rows of bytes are whole blocks: they are as long as 17544 bytes of 4128 blocks")}
FULL = ["weight=3x13056;indices=4,;type=q8_0;f32", "weight=65537x18;indices=65537,;type=q4_0;f32"]
SHAPES = [
    *(f"weight=6x{BLOCKS[quant][1]};indices=7,;type={quant};f32;fill=small-scales" for quant in SCALED),
]
