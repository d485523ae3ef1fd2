"""Cases of sigmoid: saturation on both sides; candle issue 2114's fifteen inputs with gradients."""

from opproof.cases._rows.elementwise import elementwise, full_elementwise
from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows

SMOKE = ["x=7x33", "x=15,;fill=candle-2114"]
STANDARD = [
    *elementwise(drop=("small",)),
    "x=15,;fill=candle-2114",
    "x=3x30;fill=candle-2114;layout=transposed",
    "x=3x17;fill=offset;layout=sliced;f32",
    "x=6x11;fill=small;f32",
]
LAID = laid_rows()
LONG, LONGEST = long_rows()
FULL = full_elementwise()
