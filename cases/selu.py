"""Cases of selu: both sides of the kink, saturation on the left; to bf16, x on the right."""

from opproof.cases._rows.elementwise import elementwise, full_elementwise
from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows

SMOKE = ["x=7x33"]
STANDARD = [
    *elementwise(kinks=True, drop=("positive",)),
    "x=3x15;fill=candle-2114",
    "x=2x97;fill=positive;f32,f16",
    "x=5x131;fill=negative;f16,bf16",
]
LAID = laid_rows()
LONG, LONGEST = long_rows()
FULL = full_elementwise()
