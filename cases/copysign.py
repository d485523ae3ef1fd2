"""Cases of copysign: both signs of both, zeros of both signs, every kind of broadcast."""

from opproof.cases._rows.elementwise import EXTREMES_MEET, SQUARES, binary, full_binary
from opproof.cases._rows.laid import laid_binary
from opproof.cases._rows.long import long_binary
from opproof.cases._rows.reasons import COPY

SMOKE = ["a=7x33;b=7x33"]
STANDARD = [
    *(row for row in binary() if "needs=b" not in row and "@a" not in row),
    "a=9x33;b=9x33;fill=signs",
    "a=9x33;b=9x33;fill=meet",
    "a=9x33;b=9x33;fill=edges",
    "a=4x33;b=4x33;fill=halves",
]
LAID = laid_binary()
LONG, LONGEST = long_binary()
FULL = full_binary()
SHAPES = [
    *SQUARES,
    *EXTREMES_MEET,
]
WITHOUT = COPY
