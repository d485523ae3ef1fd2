"""Cases of gelu_quick: saturation on both sides, large arguments."""

from opproof.cases._rows.elementwise import elementwise, full_elementwise
from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows

SMOKE = ["x=7x33"]
STANDARD = [
    *elementwise(drop=("extreme",)),
    "x=3x15;fill=candle-2114",
    "x=127,;fill=extreme;f16",
    "x=3x33;fill=extreme;layout=sliced;f16",
]
LAID = laid_rows()
LONG, LONGEST = long_rows()
FULL = full_elementwise()
