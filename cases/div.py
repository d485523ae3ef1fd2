"""Cases of div: every kind of broadcast, divisors away from zero; a / a is 1 and shows nothing."""

from opproof.cases._rows.elementwise import EXTREMES_MEET, SQUARES, binary, full_binary
from opproof.cases._rows.laid import laid_binary
from opproof.cases._rows.long import long_binary
from opproof.cases._rows.reasons import ITSELF

SMOKE = ["a=7x33;b=7x33", "a=1x3;b=4x3"]
STANDARD = [
    *(row for row in binary() if "@a" not in row),
    "a=9x33;b=9x33;fill=meet",
    "a=4099x3;b=3,;fill=growing;f16,bf16",
]
LAID = laid_binary()
LONG, LONGEST = long_binary()
FULL = full_binary()
WITHOUT = ITSELF
SHAPES = [
    *SQUARES,
    *EXTREMES_MEET,
]
