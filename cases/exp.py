"""Cases of exp: overflow and underflow, values near 0, large positive and negative rows."""

from opproof.cases._rows.elementwise import elementwise, full_elementwise
from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows

SMOKE = ["x=7x33"]
STANDARD = [
    *elementwise(drop=("small",)),
    "x=3x17;fill=offset;layout=sliced",
    "x=6x11;fill=small;f32",
    # kernels of f64 at ordinary sizes
    "x=5x131;fill=wide;f64",
    "x=4099,;f64",
]
LAID = laid_rows()
LONG, LONGEST = long_rows()
FULL = full_elementwise()
