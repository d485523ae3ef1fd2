"""Cases of cos: arguments up to 1e7, where argument reduction shows; near 0 it is 1 in 16 bits."""

from opproof.cases._rows.elementwise import elementwise, full_elementwise
from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows

SMOKE = ["x=7x33"]
STANDARD = [
    *elementwise(drop=("small",)),
    "x=3x17;fill=offset;layout=sliced",
    "x=6x11;fill=small;f32",
]
LAID = laid_rows()
LONG, LONGEST = long_rows()
FULL = full_elementwise()
