"""Cases of pixel_shuffle: factors 2, 3 and 4, unlike height and width, every layout."""

from opproof.cases._rows.long import lengths
from opproof.cases._rows.typed import typed

SMOKE = [
    "x=2x8x3x5;upscale_factor=2",
]
STANDARD = [
    "x=1x4x1x1;upscale_factor=2",
    "x=2x9x3x4;upscale_factor=3",
    "x=2x18x4x3;upscale_factor=3;layout=transposed",
    "x=3x16x2x5;upscale_factor=4;layout=permuted",
    "x=2x12x5x3;upscale_factor=2;layout=sliced",
    "x=2x12x3x5;upscale_factor=2;layout=gapped",
    "x=3x4x5x2;upscale_factor=2;layout=broadcast",
    "x=2x8x3x5;upscale_factor=2;layout=offset",
    "x=2x4x3x7;upscale_factor=2;fill=special",
    "x=2x4x7x3;upscale_factor=2;fill=extreme",
    "x=2x8x3x2;upscale_factor=2;fill=exact",
    "x=2x9x4x5;upscale_factor=3;fill=wide",
    "x=2x20x3x4;upscale_factor=2;layout=transposed",
    "x=1x100x2x3;upscale_factor=5",
    "x=1x4x33x65;upscale_factor=2",
    "x=0x4x3x5;upscale_factor=2",
    "x=1x9x3x7;upscale_factor=3;layout=transposed",
]
TYPED = typed("float8 signed unsigned", *SMOKE, *STANDARD)
LAID = ["x=2x12x3x5;upscale_factor=2;layout=cropped", "x=1x1x1x1;upscale_factor=1;layout=offset"]
LONG, LONGEST = lengths(
    "x={n}x4x1x2;upscale_factor=2",
    "x=1x{n}x2x1;upscale_factor=1",
    "x=1x4x{n}x1;upscale_factor=2",
    "x=1x4x1x{n};upscale_factor=2",
)
FULL = [
    "x=1x12x129x65;upscale_factor=2",
    "x=65537x4x1x1;upscale_factor=2",
]
