"""Cases of expand: one axis, several, new ones in front, sizes kept by -1, long sums in the gradient."""

from opproof.cases._rows.long import lengths
from opproof.cases._rows.typed import typed

SMOKE = [
    "x=1x33;shape=(4,33)",
]
STANDARD = [
    "x=9,;shape=(5,9)",
    "x=9,;shape=(3,2,-1);layout=sliced",
    "x=5x1;shape=(5,31)",
    "x=5x1;shape=(-1,7);fill=wide",
    "x=3x1x32;shape=(3,4,32);layout=offset",
    "x=2x1x7;shape=(4,2,5,7);layout=transposed",
    "x=1x3x1x5;shape=(2,3,4,5);layout=permuted",
    "x=2x3x1x5;shape=(-1,-1,6,-1);layout=sliced",
    "x=4x1x17;shape=(4,3,17);layout=gapped",
    "x=5x1x9;shape=(5,2,9);layout=broadcast",
    "x=1x1;shape=(7,9)",
    "x=0d;shape=(5)",
    "x=0d;shape=(2,3)",
    "x=3x1;shape=(3,0)",
    "x=1x22;shape=(3,22);fill=special",
    "x=9x1;shape=(9,4);fill=extreme",
    "x=5x1;shape=(5,17);fill=exact",
    "x=1x7;shape=(65,7);fill=signs",
    "x=3x1;shape=(3,257)",
    "x=1x3;shape=(1031,3)",
    "x=2x1x65;shape=(2,9,65)",
    "x=3x1x5x97;shape=(3,2,5,97);layout=transposed",
    "x=1x3x5x9;shape=(2,3,5,9);layout=permuted",
    "x=0x1;shape=(0,3)",
    "x=2x3x5x1;shape=(2,3,5,9);layout=gapped",
    "x=2x3x5x1;shape=(2,3,5,9);layout=permuted",
    "x=1x3;shape=(4099,3);f16,bf16",
]
TYPED = typed("float8 signed unsigned", *SMOKE, *STANDARD)
LAID = [
    "x=2x3x4;shape=(5,2,3,4);layout=cropped",
    "x=3x1x4;shape=(3,1,4);layout=transposed",
    "x=3x1x4;shape=(3,1,4);layout=offset",
    "x=0d;shape=(3,2);layout=offset",
]
LONG, LONGEST = lengths(
    "x={n}x1;shape=({n},3)", "x=1x{n};shape=(2,{n})", "x=2x1;shape=(2,{n})", "x=1x{n};shape=(3,{n})"
)
SHAPES = [
    "x=1x33;shape=(65,33);fill=spread;f32",
    "x=3x1x3;shape=(3,3,3)",
]
FULL = [
    "x=3x1031;shape=(2,3,1031)",
    "x=3x1;shape=(3,12289)",
    "x=1x3;shape=(65537,3)",
]
