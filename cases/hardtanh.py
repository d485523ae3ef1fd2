"""Cases of hardtanh: equal and unequal bounds, of one sign, and both kinks (where clamp differs)."""

from opproof.cases._rows.elementwise import elementwise, full_elementwise
from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows

_PARAMS = ("", "min_val=-0.5;max_val=1.5", "min_val=0.5;max_val=2.0", "min_val=-2.0;max_val=-0.5")

SMOKE = ["x=7x33"]
STANDARD = [
    *elementwise(_PARAMS, kinks=True, drop=("small", "positive", "negative")),
    "x=4x19;min_val=-1.5;max_val=1.5;fill=halves;layout=sliced",
    "x=6x11;max_val=1.5;fill=positive",
    "x=6x11;min_val=-1.5;fill=negative",
    "x=2x1031;min_val=-9.0;max_val=9.0;fill=wide",
]
LAID = laid_rows()
LONG, LONGEST = long_rows()
FULL = full_elementwise(_PARAMS[:1])
