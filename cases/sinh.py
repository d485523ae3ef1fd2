"""Cases of sinh: overflow on both sides, in f16 past 11; near 0 it is a copy."""

from opproof.cases._rows.elementwise import elementwise, full_elementwise
from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows

SMOKE = ["x=7x33"]
STANDARD = [
    *elementwise(drop=("small",)),
    "x=3x17;fill=offset;layout=sliced",
    "x=5x31;fill=halves;layout=permuted",
]
LAID = laid_rows()
LONG, LONGEST = long_rows()
FULL = full_elementwise()
