"""Cases of hypot: squares that overflow and underflow, zeros of both, every kind of broadcast."""

from opproof.cases._rows.elementwise import EXTREMES_MEET, SQUARES, binary, full_binary
from opproof.cases._rows.laid import laid_binary
from opproof.cases._rows.long import long_binary

SMOKE = ["a=7x33;b=7x33"]
STANDARD = [
    *binary(),
    "a=9x33;b=9x33;fill=meet",
    "a=9x33;b=9x33;fill=signs",
    "a=9x33;b=9x33;fill=edges",
    "a=9x33;b=9x33;fill=squares",
]
LAID = laid_binary()
LONG, LONGEST = long_binary()
FULL = full_binary()
SHAPES = [
    *SQUARES,
    *EXTREMES_MEET,
]
