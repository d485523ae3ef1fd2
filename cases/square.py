"""Cases of square: sizes around vector widths, every layout, large and small values."""

from opproof.cases._rows.elementwise import elementwise, full_elementwise
from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows
from opproof.cases._rows.typed import typed

SMOKE = ["x=7x33"]
STANDARD = [
    *elementwise(drop=("small",)),
    "x=3x17;fill=offset",
    "x=6x11;fill=small;f32,bf16",
]
TYPED = typed("signed unsigned", *SMOKE, *STANDARD)
LAID = laid_rows()
LONG, LONGEST = long_rows()
FULL = full_elementwise()
