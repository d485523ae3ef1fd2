"""Cases of repeat: each axis, new axes in front, no tiles at all, sums of many tiles in the gradient."""

from opproof.cases._rows.long import lengths
from opproof.cases._rows.typed import typed

SMOKE = ["x=4x33;repeats=(2,3)"]
STANDARD = [
    "x=9,;repeats=(3)",
    "x=9,;repeats=(4,2)",
    "x=5x31;repeats=(1,2);layout=transposed",
    "x=5x31;repeats=(3,1);fill=wide",
    "x=3x32;repeats=(2,1,3);layout=offset",
    "x=2x3x7;repeats=(3,1,2);layout=transposed",
    "x=2x3x4x5;repeats=(1,3,2,1);layout=permuted",
    "x=2x3x4x5;repeats=(2,1,1,3);layout=sliced",
    "x=4x17;repeats=(2,2);layout=gapped",
    "x=5x63;repeats=(1,2);layout=broadcast",
    "x=3x1;repeats=(1,33)",
    "x=1x5;repeats=(7,1)",
    "x=0d;repeats=(5)",
    "x=3x0;repeats=(2,3)",
    "x=3x22;repeats=(2,2);fill=special",
    "x=3x9;repeats=(2,3);fill=extreme",
    "x=3x5;repeats=(4,2);fill=exact",
    "x=2x3;repeats=(5,2,4);fill=signs;layout=transposed",
    "x=2x3;repeats=(1031,1)",
    "x=3x2;repeats=(1,257)",
    "x=11x97;repeats=(2,1)",
    "x=2x3;repeats=(4099,1);f16,bf16",
]
TYPED = typed("float8 signed unsigned", *SMOKE, *STANDARD)
LAID = [
    "x=2x3x4;repeats=(1,2,1);layout=cropped",
    "x=3x1x4;repeats=(1,1,1);layout=transposed",
    "x=3x1x4;repeats=(1,1,1);layout=offset",
    "x=0d;repeats=(3);layout=offset",
]
LONG, LONGEST = lengths("x={n}x1;repeats=(1,3)", "x=1x{n};repeats=(2,1)", "x=2,;repeats=({n})", "x=2x{n};repeats=(1,2)")
SHAPES = [
    "x=9,;repeats=(33,2);fill=spread;f32",
    "x=3x3x3;repeats=(1,3,1)",
]
FULL = ["x=2x1031;repeats=(2,1)", "x=2x3;repeats=(1,12289)", "x=1x3;repeats=(65537,1)"]
