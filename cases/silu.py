"""Cases of silu: saturation on both sides, its minimum near -1.28, large arguments."""

from opproof.cases._rows.elementwise import elementwise, full_elementwise
from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows

SMOKE = ["x=7x33"]
STANDARD = [
    *elementwise(),
    "x=3x17;fill=offset;layout=sliced;f32",
    "x=3x15;fill=candle-2114",
]
LAID = laid_rows()
LONG, LONGEST = long_rows()
FULL = full_elementwise()
