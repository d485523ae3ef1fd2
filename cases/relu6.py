"""Cases of relu6: below 0, between, above 6, and both kinks."""

from opproof.cases._rows.elementwise import elementwise, full_elementwise
from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows

SMOKE = ["x=7x33"]
STANDARD = [
    *elementwise(kinks=True, drop=("negative", "positive", "small")),
    "x=4x19;fill=halves;layout=sliced",
    "x=5x9;fill=subnormal",
]
LAID = laid_rows()
LONG, LONGEST = long_rows()
FULL = full_elementwise()
WITHOUT = {"negative": "of negative numbers it is 0"}
