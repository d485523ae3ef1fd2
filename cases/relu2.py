"""Cases of relu2: both sides of 0, squares past the largest number and below the smallest."""

from opproof.cases._rows.elementwise import elementwise, full_elementwise
from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows

SMOKE = ["x=7x33"]
STANDARD = [
    *elementwise(drop=("negative", "small")),
    "x=4x33;fill=kink",
    "x=6x11;fill=small;f32,bf16",
]
LAID = laid_rows()
LONG, LONGEST = long_rows()
FULL = full_elementwise()
WITHOUT = {"negative": "of negative numbers it is 0"}
