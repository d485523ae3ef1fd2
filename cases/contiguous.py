"""Cases of contiguous: every layout, ranks 0 to 5, sizes around vector widths."""

from opproof.cases._rows.long import lengths
from opproof.cases._rows.typed import typed

SMOKE = [
    "x=7x33;layout=transposed",
]
STANDARD = [
    "x=7x33;inplace=x",
    "x=3x2x65;layout=transposed;inplace=x",
    "x=9,",
    "x=9,;layout=sliced",
    "x=5x31;layout=transposed",
    "x=3x32;layout=offset",
    "x=2x3x65;layout=permuted",
    "x=2x3x4x7;layout=permuted",
    "x=2x3x4x7;layout=transposed",
    "x=2x3x2x4x5;layout=permuted",
    "x=3x33;layout=sliced",
    "x=4x128;layout=gapped",
    "x=5x63;layout=broadcast",
    "x=2x5x9;layout=broadcast",
    "x=3x22;layout=transposed;fill=special",
    "x=3x97;layout=transposed;fill=extreme",
    "x=0d",
    "x=3x0",
    "x=1x7x1;layout=permuted",
    "x=33x65;layout=transposed",
    "x=2x1031;layout=transposed",
    "x=5x7;layout=transposed;fill=negative",
    "x=256x256;layout=transposed;fill=every",
    "x=2x3x1x2x3x5;f32;layout=permuted",
    "x=4099,",
]
TYPED = typed("float8 signed unsigned", *SMOKE, *STANDARD)
LAID = ["x=2x3x4;layout=cropped", "x=2x3x4x5;layout=cropped", "x=0d;layout=offset"]
LONG, LONGEST = lengths("x={n}x3;layout=transposed", "x=3x{n};layout=transposed")
FULL = [
    "x=3x12289;layout=transposed",
    "x=65537x3;layout=transposed",
]
