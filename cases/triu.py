"""Cases of triu: wide and tall matrices, diagonals on both sides and past the edges, batches."""

from opproof.cases._rows.long import lengths
from opproof.cases._rows.reasons import PLACE
from opproof.cases._rows.typed import typed

SMOKE = [
    "x=5x7;diagonal=0",
]
STANDARD = [
    "x=5x33;diagonal=0;inplace=x",
    "x=3x17x9;diagonal=1;layout=transposed;inplace=x",
    "x=2x5x9;diagonal=-1;fill=masked",
    "x=2x5x9;diagonal=-1;fill=masked-special",
    "x=7x5;diagonal=0",
    "x=5x7;diagonal=2;layout=transposed",
    "x=5x7;diagonal=-2;layout=offset",
    "x=2x3x4x7;diagonal=1;layout=permuted",
    "x=2x3x7x4;diagonal=-1;layout=transposed",
    "x=3x6x6;diagonal=0;layout=sliced",
    "x=3x6x9;diagonal=3;layout=gapped",
    "x=3x6x5;diagonal=-1;layout=broadcast",
    "x=31x33;diagonal=0",
    "x=33x32;diagonal=-5",
    "x=6x22;diagonal=4;fill=special",
    "x=9x9;diagonal=0;fill=extreme",
    "x=4x4;diagonal=0;fill=exact",
    "x=1x5;diagonal=0",
    "x=5x1;diagonal=0",
    "x=3x0;diagonal=0",
    "x=65x3;diagonal=-20",
    "x=3x65;diagonal=20",
    "x=2x1031;diagonal=1",
    "x=5x7x99;diagonal=-5",
    "x=5x7;diagonal=0;fill=negative",
    "x=2x3x1x2x3x5;diagonal=-1;f32;layout=permuted",
]
TYPED = typed("float8 signed unsigned", *SMOKE, *STANDARD)
LAID = ["x=2x3x5x6;diagonal=0;layout=cropped"]
LONG, LONGEST = lengths("x={n}x3;diagonal=-1000", "x=3x{n};diagonal=1")
FULL = [
    "x=3x12289;diagonal=1",
    "x=65537x3;diagonal=-1",
]
WITHOUT = PLACE
