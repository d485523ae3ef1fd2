"""Cases of signbit: zeros of both signs, infinities, numbers next to 0."""

from opproof.cases._rows.elementwise import elementwise, full_elementwise
from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows

SMOKE = ["x=7x33"]
STANDARD = [
    *(row for row in elementwise(kinks=True, drop=("positive", "negative")) if "inplace" not in row),
    "x=5x9;fill=subnormal",
    "x=5x13;fill=tiny",
    "x=5x33;fill=signs",
]
LAID = laid_rows()
LONG, LONGEST = long_rows()
FULL = full_elementwise()
WITHOUT = {"negative": "of negative numbers it is one constant"}
