"""Cases of mul: every kind of broadcast, the gradient summed back to each input's shape.

The first rows are the shapes of aidge's Mul backward tests ([1,3] x [4,3] and its relatives).
"""

from opproof.cases._rows.elementwise import EXTREMES_MEET, SQUARES, binary, full_binary
from opproof.cases._rows.laid import laid_binary
from opproof.cases._rows.long import long_binary
from opproof.cases._rows.typed import typed

SMOKE = ["a=7x33;b=7x33", "a=1x3;b=4x3"]
STANDARD = [
    "a=2x3;b=2x3",
    "a=2x3x2;b=2,",
    "a=2x2;b=2,",
    "a=2x1x2;b=2x2x1",
    "a=1x13;b=4x13;fill=exact",
    *binary(exact=True),
    "a=4099x3;b=3,;fill=growing;f16,bf16",
]
TYPED = [*typed("float8 signed unsigned", *SMOKE, *STANDARD), "a=33x65;b=33x65;f8e4m3,f8e5m2"]
LAID = laid_binary()
LONG, LONGEST = long_binary()
FULL = full_binary()
SHAPES = [
    *SQUARES,
    *EXTREMES_MEET,
]
