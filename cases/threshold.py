"""Cases of threshold: thresholds of both signs and zero, values unlike the threshold, inputs exactly on it."""

from opproof.cases._rows.elementwise import elementwise, full_elementwise
from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows

_PARAMS = (
    "threshold=0.5;value=2.0",
    "threshold=-0.5;value=-3.0",
    "threshold=0.0;value=0.0",
    "threshold=1.0;value=0.25",
)

SMOKE = ["x=7x33;threshold=0.5;value=2.0"]
STANDARD = [
    *elementwise(_PARAMS, kinks=True, drop=("small", "positive", "negative")),
    "x=4x19;threshold=0.5;value=2.0;fill=halves;layout=sliced",
    "x=6x11;threshold=0.5;value=-1.0;fill=positive",
    "x=66,;threshold=-0.5;value=-3.0;fill=special",
    "x=6x11;threshold=-1.0;value=2.0;fill=negative;layout=transposed",
]
LAID = laid_rows("threshold=0.1;value=20.0")
LONG, LONGEST = long_rows("threshold=0.1;value=20.0")
FULL = full_elementwise(_PARAMS[:1])
