"""Cases of hardsigmoid: below -3, between, above 3, and both kinks."""

from opproof.cases._rows.elementwise import elementwise, full_elementwise
from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows

SMOKE = ["x=7x33"]
STANDARD = [
    *elementwise(kinks=True, drop=("small",)),
    "x=4x19;fill=halves;layout=sliced",
    "x=6x11;fill=small;f32",
    "x=5x33;fill=wide;layout=broadcast",
    "x=9x13;fill=wide;layout=offset",
]
LAID = laid_rows("fill=wide")
LONG, LONGEST = long_rows()
FULL = full_elementwise()
