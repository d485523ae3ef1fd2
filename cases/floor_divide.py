"""Cases of floor_divide: signs of both, exact quotients."""

from opproof.cases._rows.elementwise import binary, full_binary
from opproof.cases._rows.laid import laid_binary
from opproof.cases._rows.long import long_binary
from opproof.cases._rows.reasons import ITSELF
from opproof.cases._rows.typed import typed

SMOKE = ["a=7x33;b=7x33", "a=1x3;b=4x3"]
_TENTHS = ["a=9x33;b=9x33;fill=tenths", "a=2x3x9;b=3x9;fill=tenths;layout=b:transposed"]
_STANDARD = [
    "a=9x33;b=9x33;fill=edges",
    "a=9x33;b=9x33;fill=meet",
    *(row for row in binary() if "@a" not in row),
    "a=4x33;b=4x33;fill=halves",
    "a=2x3x9;b=3x9;fill=halves;layout=a:transposed",
]
STANDARD = [*_STANDARD, *_TENTHS]
TYPED = typed("signed unsigned", *SMOKE, *_STANDARD)
LAID = laid_binary()
LONG, LONGEST = long_binary()
FULL = full_binary()
WITHOUT = ITSELF
