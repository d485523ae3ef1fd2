"""Cases of trunc: integers and halves of both signs, rounded toward zero."""

from opproof.cases._rows.elementwise import elementwise, full_elementwise
from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows

SMOKE = ["x=7x33"]
STANDARD = [
    *elementwise(kinks=True, drop=("small",)),
    "x=4x19;fill=halves;layout=sliced",
    "x=5x9;fill=offset",
]
LAID = laid_rows()
LONG, LONGEST = long_rows()
FULL = full_elementwise()
