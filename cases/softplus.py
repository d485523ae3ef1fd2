"""Cases of softplus: betas and thresholds, past 88 too, where exp overflows; inputs exactly on a threshold."""

from opproof.cases._rows.elementwise import elementwise, full_elementwise
from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows

_PARAMS = ("", "beta=2.0", "beta=0.5;threshold=5.0", "beta=-1.5", "threshold=100.0")

SMOKE = ["x=7x33"]
STANDARD = [
    "x=5x33;beta=2.0;threshold=5.0;fill=edges",
    *(row for row in elementwise(_PARAMS, drop=("small", "extreme")) if "f64" not in row),  # one holds a threshold
    "x=66x11;beta=1.5;fill=branches;f64",
    "x=127,;fill=extreme",
    "x=3x33;fill=extreme;layout=sliced",
    "x=7x33;threshold=100.0;fill=extreme",
    "x=4x33;threshold=1.0;fill=kink",
    "x=2x3x9;beta=2.0;threshold=3.0;fill=kink;layout=transposed",
    "x=6x11;fill=small;f32",
    "x=3x15;fill=candle-2114",
]
LAID = laid_rows()
LONG, LONGEST = long_rows()
FULL = full_elementwise(_PARAMS[:1])
