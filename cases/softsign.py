"""Cases of softsign: saturation on both sides; near 0 it is a copy."""

from opproof.cases._rows.elementwise import elementwise, full_elementwise
from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows

SMOKE = ["x=7x33"]
STANDARD = [
    "x=5x33;fill=edges",
    *elementwise(drop=("small",)),
    "x=3x17;fill=offset;layout=sliced;f32",
    "x=6x11;fill=small;f32",
]
LAID = laid_rows()
LONG, LONGEST = long_rows()
FULL = full_elementwise()
