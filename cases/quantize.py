"""Cases of quantize: every type that gguf encodes, blocks of zeros, of one value, halves, and values far apart."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import Limit, lengths
from opproof.cases._rows.quantised import BLOCKS, ENCODED

_FILLS = ("", "fill=wide", "fill=zeros", "fill=halves", "fill=small", "fill=constant", "fill=negative", "fill=offset")


def _row(quant: str, blocks: int, rows: str, rest: str) -> str:
    return ";".join(p for p in (f"x={rows}x{blocks * BLOCKS[quant][0]}", f"type={quant}", rest) if p)


#: Computed in float32: float64 inputs would first lose digits.
SMOKE = ["x=3x64;type=q4_0;f32"]
STANDARD = [
    *(_row(quant, 1 + i % 3, "3", fill) for quant in ENCODED for i, fill in enumerate(_FILLS[:4])),
    *(_row(quant, 2, "2x3", f"{fill};layout=gapped") for quant in ENCODED[:5] for fill in _FILLS[4:]),
    "x=64,;type=q8_0",
    "x=5x64;type=q4_0;layout=transposed",
    "x=5x32;type=q5_1;layout=sliced",
    "x=2x3x64;type=q4_1;layout=permuted",
    "x=4x96;type=q5_0;layout=offset",
    "x=3x32;type=q8_0;fill=exact",
    "x=0x32;type=q4_0",
    "x=2x1056;type=q8_0",
    "x=3x32;type=q4_0;layout=x:broadcast",
    "x=3x64;type=q8_0;fill=extreme",
    *(_row(quant, 1, "13", "fill=lone") for quant in ENCODED),
]
LAID = ["x=2x3x64;type=q4_0;layout=cropped"]
ALIGNED = aligned(
    "x=16x64;type=q4_0",
    "x=64x128;type=q8_0",
    "x=16x256;type=q4_1",
    "x=32x64;type=q5_0",
    "x=2x16x64;type=q8_0",
    "x=16x512;type=q5_1",
    "x=48x64;type=q4_0",
)
LONG, LONGEST = lengths("x={n}x32;type=q8_0")
SHORT = {"x.last": Limit(0, "rows are whole blocks, of 32 or 256 numbers")}
FULL = ["x=2x12288;type=q8_0", "x=65537x32;type=q4_0"]
WITHOUT = {"NaN, inf": "what a block with NaN becomes is no rule that libraries share"}
