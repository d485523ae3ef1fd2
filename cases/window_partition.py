"""Cases of window_partition: images that windows fit and do not fit, wider than high and higher than wide."""

from opproof.cases._rows.long import lengths
from opproof.cases._rows.typed import typed

SMOKE = ["x=2x5x7x3;window_size=3"]
STANDARD = [
    "x=1x1x1x1;window_size=1",
    "x=1x9x9x2;window_size=3;fill=wide",
    "x=1x7x5x9;window_size=4",
    "x=2x5x8x3;window_size=4;layout=transposed",
    "x=3x8x5x4;window_size=2;layout=permuted",
    "x=2x6x4x31;window_size=5;layout=sliced",
    "x=1x3x5x65;window_size=2;layout=gapped",
    "x=2x4x7x5;window_size=3;layout=offset",
    "x=3x5x4x6;window_size=3;layout=broadcast",
    "x=2x2x3x4;window_size=7",
    "x=2x5x4x3;window_size=1;layout=transposed",
    "x=1x14x15x2;window_size=14",
    "x=2x5x4x3;window_size=2;fill=exact",
    "x=2x5x4x3;window_size=3;fill=extreme",
    "x=2x5x4x3;window_size=3;fill=special",
    "x=0x5x4x3;window_size=3",
    "x=1x33x17x1;window_size=8",
    "x=1x3x2x1031;window_size=2;f32",
    "x=1x5x4x97;window_size=3;layout=transposed",
]
TYPED = typed("float8 signed unsigned", *SMOKE, *STANDARD)
LAID = ["x=2x5x7x3;window_size=3;layout=cropped", "x=1x1x1x1;window_size=1;layout=offset"]
LONG, LONGEST = lengths(
    "x={n}x1x2x2;window_size=2", "x=1x{n}x2x2;window_size=2", "x=1x1x3x{n};window_size=2", "x=1x2x{n}x2;window_size=2"
)
FULL = ["x=1x3x4x12289;window_size=2", "x=1x257x256x1;window_size=7"]
