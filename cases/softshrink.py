"""Cases of softshrink: thresholds of the default and others, inputs exactly on them."""

from opproof.cases._rows.elementwise import elementwise, full_elementwise
from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows
from opproof.cases._rows.row import BETWEEN

_PARAMS = ("", "lambd=1.0", "lambd=0.375", "lambd=2.5")

SMOKE = ["x=7x33"]
STANDARD = [
    *elementwise(_PARAMS, kinks=True, drop=("small", "positive", "negative")),
    "x=4x19;fill=halves;layout=sliced",
    "x=6x11;lambd=0.0009765625;fill=small",
    "x=2x97;fill=positive",
    "x=2x99;fill=negative;layout=transposed",
    f"x=5x131;lambd={4 * BETWEEN};f16,bf16",
]
LAID = laid_rows()
LONG, LONGEST = long_rows()
FULL = full_elementwise(_PARAMS[:1])
