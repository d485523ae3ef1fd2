"""Cases of expm1: values near 0 where eˣ - 1 cancels, overflow, saturation at -1."""

from opproof.cases._rows.elementwise import elementwise, full_elementwise
from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows

SMOKE = ["x=7x33"]
STANDARD = [
    *elementwise(drop=("small",)),
    "x=3x17;fill=offset;layout=sliced",
    "x=6x11;fill=small;f32",
    "x=3x15;fill=candle-2114",
]
LAID = laid_rows()
LONG, LONGEST = long_rows()
FULL = full_elementwise()
