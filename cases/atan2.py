"""Cases of atan2: all quadrants, both axes; f16 has too little room for a² + b² at its extremes."""

from opproof.cases._rows.elementwise import EXTREMES_MEET, SQUARES, binary, full_binary
from opproof.cases._rows.laid import laid_binary
from opproof.cases._rows.long import long_binary
from opproof.cases._rows.reasons import ITSELF

SMOKE = ["a=7x33;b=7x33", "a=1x3;b=4x3"]
STANDARD = [
    "a=9x33;b=9x33;fill=edges",
    "a=9x33;b=9x33;fill=meet",
    "a=9x33;b=9x33;fill=squares",
    *(row for row in binary(drop=("extreme",)) if "@a" not in row),
    "a=3x127;b=3x127;fill=extreme",
    "a=4x33;b=4x33;fill=halves",
    "a=3x17;b=3x17;fill=negative",
]
LAID = laid_binary()
LONG, LONGEST = long_binary()
FULL = full_binary()
WITHOUT = ITSELF
SHAPES = [
    *SQUARES,
    *EXTREMES_MEET,
]
