"""Cases of repeat_interleave: each axis, once, never and many times, every layout."""

from opproof.cases._rows.long import lengths
from opproof.cases._rows.typed import typed

SMOKE = [
    "x=4x33;repeats=3;dim=1",
]
STANDARD = [
    "x=9,;repeats=2;dim=0",
    "x=5x31;repeats=3;dim=0;layout=transposed",
    "x=5x31;repeats=2;dim=-1;fill=wide",
    "x=3x32;repeats=5;dim=0;layout=offset",
    "x=2x3x7;repeats=3;dim=1;layout=transposed",
    "x=2x3x4x5;repeats=2;dim=2;layout=permuted",
    "x=2x3x4x5;repeats=3;dim=-4;layout=sliced",
    "x=4x17;repeats=2;dim=1;layout=gapped",
    "x=5x63;repeats=2;dim=0;layout=broadcast",
    "x=3x1;repeats=33;dim=1",
    "x=1x5;repeats=7;dim=0",
    "x=3x4x2;repeats=4;dim=1",
    "x=0x4;repeats=2;dim=1",
    "x=3x22;repeats=2;dim=1;fill=special",
    "x=3x9;repeats=3;dim=1;fill=extreme",
    "x=3x5;repeats=4;dim=0;fill=exact",
    "x=2x3;repeats=65;dim=1;fill=signs;layout=transposed",
    "x=3x2;repeats=257;dim=1",
    "x=2x3;repeats=1031;dim=0",
    "x=11x97;repeats=2;dim=0;layout=transposed",
    "x=2x3;repeats=4099;dim=0;f16,bf16",
]
TYPED = typed("float8 signed unsigned", *SMOKE, *STANDARD)
LAID = [
    "x=2x3x4;repeats=2;dim=1;layout=cropped",
    "x=3x1x4;repeats=1;dim=0;layout=transposed",
    "x=1,;repeats=3;dim=0;layout=offset",
]
LONG, LONGEST = lengths(
    "x={n}x2;repeats=2;dim=1",
    "x=2x{n};repeats=2;dim=0",
    "x=2,;repeats={n};dim=0",
    "x={n}x1;repeats=2;dim=0",
    "x=1x{n};repeats=3;dim=1",
)
SHAPES = [
    "x=9x5;repeats=33;dim=0;fill=spread;f32",
    "x=3x3x3;repeats=3;dim=1",
]
FULL = [
    "x=2x1031;repeats=2;dim=0",
    "x=2x3;repeats=12289;dim=1",
    "x=3x2;repeats=65537;dim=0;f32",
]
