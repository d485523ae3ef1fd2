"""Cases of trace: wide and tall matrices, batches, diagonals on both sides, one that has no elements."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths

SMOKE = ["x=7x7", "x=5x7;offset=1"]
STANDARD = [
    "x=9x5",
    "x=5x9;offset=-2;layout=transposed",
    "x=2x3x5x7;offset=2;layout=permuted",
    "x=3x31x33;offset=-1;layout=sliced",
    "x=4x6x9;layout=gapped",
    "x=33x17;offset=3;layout=offset",
    "x=5x7;layout=broadcast",
    "x=5x17x19;fill=wide",
    "x=9x7x9;fill=offset",
    "x=17x9x9;fill=negative;f32,f16",
    "x=9x9x9;fill=extreme",
    "x=5x7x7;fill=zeros",
    "x=25x5x7;fill=special",
    "x=25x5x7;fill=special-rows",
    "x=7x5x9;fill=small;f32,bf16",
    "x=6x5x5;fill=exact;offset=1",
    "x=9x6x4;fill=signs;layout=transposed",
    "x=1x1",
    "x=3x4;offset=4",
    "x=0x3x3",
    "x=3x0x4",
    "x=1031x1033;f16",
    "x=1031x1033;offset=1;bf16",
    "x=131x3x5",
    "x=65x127;offset=-64",
]
LAID = ["x=3x5x9;layout=cropped", "x=1x1;layout=offset"]
ALIGNED = aligned(
    "x=16x64x64",
    "x=128x128",
    "x=16x32x128;offset=64",
    "x=2x256x256",
    "x=64x16x16",
    "x=16x16x48",
    "x=2x16x32x32",
)
LONG, LONGEST = lengths("x={n}x2x3", "x={n}x3;offset=-5", "x=3x{n};offset=7", "x=2x1x{n}x2")
FULL = ["x=2x12289x2;offset=-3", "x=65537x3x2"]
