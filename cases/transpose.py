"""Cases of transpose: each pair of axes, negative axes, sizes around tiles, every layout."""

from opproof.cases._rows.long import lengths
from opproof.cases._rows.typed import typed

SMOKE = ["x=7x33;dim0=0;dim1=1"]
STANDARD = [
    "x=5x31;dim0=-1;dim1=0",
    "x=3x32;dim0=0;dim1=1;layout=offset",
    "x=2x3x65;dim0=1;dim1=2;layout=transposed",
    "x=2x3x65;dim0=0;dim1=2",
    "x=2x3x4x7;dim0=1;dim1=2;layout=permuted",
    "x=2x3x4x7;dim0=-4;dim1=-2",
    "x=3x33;dim0=0;dim1=1;layout=sliced",
    "x=4x128;dim0=1;dim1=0;layout=gapped",
    "x=5x63;dim0=0;dim1=1;layout=broadcast",
    "x=2x5x9;dim0=0;dim1=1;layout=sliced",
    "x=3x22;dim0=0;dim1=1;fill=special",
    "x=3x97;dim0=0;dim1=1;fill=extreme",
    "x=1x7;dim0=0;dim1=1",
    "x=3x0;dim0=0;dim1=1",
    "x=4x7;dim0=0;dim1=1;fill=exact",
    "x=33x65;dim0=0;dim1=1;layout=transposed",
    "x=2x1031;dim0=0;dim1=1",
]
TYPED = typed("float8 signed unsigned", *SMOKE, *STANDARD)
LAID = ["x=2x3x4;dim0=0;dim1=1;layout=cropped"]
LONG, LONGEST = lengths("x={n}x2;dim0=0;dim1=1", "x=3x{n};dim0=0;dim1=1")
SHAPES = [
    "x=5x5;dim0=0;dim1=1",
    "x=4x4x4;dim0=2;dim1=0",
    "x=3x3x3x3;dim0=1;dim1=2",
]
FULL = ["x=3x12289;dim0=0;dim1=1", "x=65537x3;dim0=0;dim1=1"]
