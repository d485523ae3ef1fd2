"""Cases of permute: permutations that are not their own inverse, on every layout."""

from opproof.cases._rows.long import lengths
from opproof.cases._rows.typed import typed

SMOKE = ["x=3x5x7;dims=(2,0,1)"]
STANDARD = [
    "x=3x5x7;dims=(1,2,0)",
    "x=5x31;dims=(1,0)",
    "x=3x32x2;dims=(-1,0,1);layout=offset",
    "x=2x3x65;dims=(1,2,0);layout=transposed",
    "x=2x3x4x7;dims=(2,0,3,1);layout=permuted",
    "x=2x3x4x7;dims=(1,3,0,2)",
    "x=2x3x4x5;dims=(3,0,1,2);layout=sliced",
    "x=2x3x4x5;dims=(1,2,3,0);layout=gapped",
    "x=2x3x4x5;dims=(0,2,3,1)",
    "x=2x3x4x5;dims=(0,3,1,2);layout=transposed",
    "x=3x5x9;dims=(2,0,1);layout=broadcast",
    "x=2x3x4x5x2;dims=(4,0,3,1,2)",
    "x=3x33x2;dims=(1,2,0);fill=special",
    "x=3x2x17;dims=(2,0,1);fill=extreme",
    "x=1x4x1;dims=(1,2,0)",
    "x=3x0x2;dims=(2,0,1)",
    "x=4x5x6;dims=(1,2,0);fill=exact",
    "x=33x65x3;dims=(2,0,1)",
    "x=5x97x3;dims=(2,0,1);layout=transposed",
    "x=2x3x2x5x3x4;dims=(3,0,5,2,4,1);f32",
]
TYPED = typed("float8 signed unsigned", *SMOKE, *STANDARD)
LAID = ["x=2x3x4;dims=(2,0,1);layout=cropped", "x=2x3x4x5;dims=(3,0,1,2);layout=cropped"]
LONG, LONGEST = lengths("x={n}x2x3;dims=(2,0,1)", "x=2x{n}x3;dims=(1,2,0)", "x=3x2x{n};dims=(2,0,1)")
SHAPES = [
    "x=4x4x4;dims=(1,2,0)",
    "x=3x3x3x3;dims=(0,2,3,1)",
]
FULL = ["x=3x2x12289;dims=(2,0,1)", "x=65537x2x3;dims=(1,2,0)"]
