"""Cases of diag: vectors into matrices and back, wide and tall ones, diagonals on both sides."""

from opproof.cases._rows.long import lengths
from opproof.cases._rows.typed import typed

SMOKE = [
    "x=5,;diagonal=0",
    "x=5x7;diagonal=1",
]
STANDARD = [
    "x=9,;diagonal=2",
    "x=9,;diagonal=-3;layout=sliced",
    "x=31,;layout=offset",
    "x=33,;diagonal=1;layout=gapped",
    "x=7x5;diagonal=0",
    "x=7x5;diagonal=-2;layout=transposed",
    "x=5x7;diagonal=3;layout=offset",
    "x=6x9;diagonal=-1;layout=sliced",
    "x=9x6;diagonal=2;layout=gapped",
    "x=5x7;diagonal=0;layout=broadcast",
    "x=12,;fill=special",
    "x=6x6;fill=special",
    "x=5,;diagonal=1;fill=exact",
    "x=5x6;diagonal=-1;fill=extreme",
    "x=1,;diagonal=0",
    "x=0,;diagonal=2",
    "x=1x5;diagonal=2",
    "x=65x33;diagonal=0;layout=transposed",
    "x=127,;diagonal=0",
]
TYPED = typed("float8 signed unsigned", *SMOKE, *STANDARD)
LONG, LONGEST = lengths("x={n}x3;diagonal=-5", "x=3x{n};diagonal=7")
FULL = [
    "x=257,;diagonal=-1",
    "x=1031x1033;diagonal=1",
]
WITHOUT = {"leading": "it has at most two axes"}
