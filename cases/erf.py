"""Cases of erf: saturation on both sides, small values (in bf16 beside others: alone they scale by nearly 1)."""

from opproof.cases._rows.elementwise import elementwise, full_elementwise
from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows

SMOKE = ["x=7x33"]
STANDARD = [
    *elementwise(drop=("small",)),
    "x=6x11;fill=small;f32,f16",
    "x=6x11;fill=mixed;bf16",
    "x=4x19;fill=halves;layout=sliced",
]
LAID = laid_rows()
LONG, LONGEST = long_rows()
FULL = full_elementwise()
