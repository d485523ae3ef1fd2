"""Cases of tanhshrink: both sides, large values; near 0 it cancels to nothing."""

from opproof.cases._rows.elementwise import elementwise, full_elementwise
from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows

SMOKE = ["x=7x33"]
STANDARD = [
    *elementwise(drop=("small",)),
    "x=3x15;fill=candle-2114",
    "x=3x17;fill=halves;layout=sliced",
]
LAID = laid_rows()
LONG, LONGEST = long_rows()
FULL = full_elementwise()
