"""Cases of dequantize: every type, one block a row and several, rows that are not contiguous."""

from opproof.cases._quant import BLOCKS

SMOKE = ["data=3x36;type=q4_0;f32"]
STANDARD = [
    *(f"data=5x{stored};type={quant};f32" for quant, (_, stored) in BLOCKS.items()),
    *(f"data=2x3x{3 * stored};type={quant};f32;layout=gapped" for quant, (_, stored) in BLOCKS.items()),
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
FULL = ["data=2x13056;type=q8_0;f32", "data=65537x18;type=q4_0;f32"]
