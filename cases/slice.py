"""Cases of slice: steps, ends counted from behind, every axis, empty slices, inputs that are slices themselves."""

from opproof.cases._rows.long import lengths
from opproof.cases._rows.typed import typed

SMOKE = [
    "x=7x33;dim=1;start=3;end=30;step=2",
]
STANDARD = [
    "x=9,;dim=0;start=2",
    "x=5x31;dim=0;start=1;end=4;layout=transposed",
    "x=5x31;dim=1;start=-9;end=-1",
    "x=3x32;dim=-1;step=3;layout=offset",
    "x=2x3x65;dim=1;start=1;layout=transposed",
    "x=4x3x4x7;dim=0;start=1;end=4;step=2;layout=permuted",
    "x=2x6x4x7;dim=-3;start=1;step=4;layout=sliced",
    "x=4x33;dim=1;end=17;layout=sliced",
    "x=4x128;dim=1;start=64;layout=gapped",
    "x=5x63;dim=1;start=1;step=2;layout=broadcast",
    "x=5x63;dim=0;start=1;end=3;layout=gapped",
    "x=3x22;dim=1;start=5;fill=special",
    "x=9x65;dim=1;start=1;end=64;fill=special;f16",
    "x=3x97;dim=1;start=96;fill=extreme",
    "x=3x0;dim=0;start=1",
    "x=5x17;dim=0;start=2;end=100;fill=exact",
    "x=1x9;dim=1;step=8",
    "x=130x6;dim=0;start=1;end=129;step=127",
    "x=2x1031;dim=1;start=1",
    "x=5x31;dim=1;start=-20;end=-2;step=3",
    "x=17x5;dim=0;start=-9;step=4",
]
TYPED = typed("float8 signed unsigned", *SMOKE, *STANDARD)
LAID = ["x=2x5x4;dim=1;start=1;end=4;layout=cropped"]
LONG, LONGEST = lengths("x={n}x2;dim=0;start=1;step=2", "x=2x{n};dim=0;start=1", "x=2x{n};dim=1;start=3;step=3")
SHAPES = [
    "x=4x4x4;dim=1;start=1",
]
FULL = [
    "x=2x12289;dim=1;start=1;step=2",
    "x=65537x3;dim=0;start=1",
]
