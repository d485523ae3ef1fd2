"""Cases of reshape: fewer axes, more, -1, and inputs that are not row-major in memory."""

from opproof.cases._rows.long import lengths
from opproof.cases._rows.typed import typed

SMOKE = ["x=4x33;shape=(33,4)"]
STANDARD = [
    "x=9,;shape=(3,3)",
    "x=5x31;shape=(-1)",
    "x=3x32;shape=(8,-1);layout=offset",
    "x=2x3x65;shape=(65,6);layout=transposed",
    "x=2x3x4x7;shape=(7,24);layout=permuted",
    "x=2x3x4x7;shape=(6,28);layout=transposed",
    "x=6x33;shape=(2,9,11);layout=sliced",
    "x=4x128;shape=(2,2,8,16);layout=gapped",
    "x=6x63;shape=(18,21);layout=broadcast",
    "x=66,;shape=(2,33);fill=special",
    "x=2x97;shape=(97,2);fill=extreme",
    "x=12x5;shape=(12,5);layout=transposed",
    "x=0d;shape=(1,1)",
    "x=1x1;shape=()",
    "x=3x0;shape=(0,5)",
    "x=5x1x7;shape=(7,5);fill=exact",
    "x=2x1031;shape=(1031,2)",
]
TYPED = typed("float8 signed unsigned", *SMOKE, *STANDARD)
LAID = [
    "x=2x3x4;shape=(4,6);layout=cropped",
    "x=2x3x4;shape=(2,3,4);layout=transposed",
    "x=0d;shape=(1,1);layout=offset",
]
LONG, LONGEST = lengths("x={n}x3;shape=(3,{n})", "x=2x{n};shape=({n},2)")
FULL = ["x=3x12289;shape=(12289,3)", "x=65537x2;shape=(2,65537)"]
