"""Cases of flip: each axis, several, every layout."""

from opproof.cases._rows.long import lengths
from opproof.cases._rows.typed import typed

SMOKE = [
    "x=7x33;dims=(1)",
]
STANDARD = [
    "x=9,;dims=(0)",
    "x=5x31;dims=(0);layout=transposed",
    "x=5x31;dims=(0,1)",
    "x=3x32;dims=(-1);layout=offset",
    "x=2x3x65;dims=(1,2);layout=transposed",
    "x=2x3x4x7;dims=(0,2,3);layout=permuted",
    "x=2x3x4x5;dims=(-3,-1);layout=sliced",
    "x=3x33;dims=(1);layout=sliced",
    "x=4x128;dims=(0,1);layout=gapped",
    "x=5x63;dims=(1);layout=broadcast",
    "x=3x22;dims=(1);fill=special",
    "x=3x97;dims=(1);fill=extreme",
    "x=3x0;dims=(0)",
    "x=1x9;dims=(1)",
    "x=4x7;dims=(0);fill=exact",
    "x=65x3;dims=(0)",
    "x=33x65;dims=(1,0);layout=transposed",
    "x=2x1031;dims=(1)",
    "x=2x3x5;dims=(2,0,1)",
]
TYPED = typed("float8 signed unsigned", *SMOKE, *STANDARD)
LAID = ["x=2x3x4;dims=(1);layout=cropped"]
LONG, LONGEST = lengths("x={n}x2;dims=(0)", "x=2x{n};dims=(0)", "x={n}x2;dims=(1)", "x=2x{n};dims=(1)")
SHAPES = [
    "x=4x4x4;dims=(1)",
    "x=3x3x3;dims=(0,2)",
]
FULL = [
    "x=2x12289;dims=(1)",
    "x=65537x3;dims=(0)",
]
