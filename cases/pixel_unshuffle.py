"""Cases of pixel_unshuffle: factors 2, 3 and 4, unlike height and width, every layout."""

from opproof.cases._rows.long import lengths
from opproof.cases._rows.typed import typed

SMOKE = ["x=2x2x6x10;downscale_factor=2"]
STANDARD = [
    "x=1x1x2x2;downscale_factor=2",
    "x=2x1x9x12;downscale_factor=3",
    "x=2x2x12x9;downscale_factor=3;layout=transposed",
    "x=3x1x8x20;downscale_factor=4;layout=permuted",
    "x=2x3x10x6;downscale_factor=2;layout=sliced",
    "x=2x3x6x10;downscale_factor=2;layout=gapped",
    "x=3x1x10x4;downscale_factor=2;layout=broadcast",
    "x=2x2x6x10;downscale_factor=2;layout=offset",
    "x=2x1x6x14;downscale_factor=2;fill=special",
    "x=2x1x14x6;downscale_factor=2;fill=extreme",
    "x=2x2x6x4;downscale_factor=2;fill=exact",
    "x=2x1x12x15;downscale_factor=3;fill=wide",
    "x=2x5x6x8;downscale_factor=2;layout=transposed",
    "x=1x4x10x15;downscale_factor=5",
    "x=1x1x66x130;downscale_factor=2",
    "x=0x1x6x10;downscale_factor=2",
    "x=1x1x9x21;downscale_factor=3;layout=transposed",
]
TYPED = typed("float8 signed unsigned", *SMOKE, *STANDARD)
LAID = ["x=2x3x6x10;downscale_factor=2;layout=cropped", "x=1x1x1x1;downscale_factor=1;layout=offset"]
LONG, LONGEST = lengths(
    "x={n}x1x2x4;downscale_factor=2",
    "x=1x{n}x2x1;downscale_factor=1",
    "x=1x1x{n}x2;downscale_factor=1",
    "x=1x1x2x{n};downscale_factor=1",
)
FULL = ["x=1x3x258x130;downscale_factor=2", "x=65537x1x2x2;downscale_factor=2"]
