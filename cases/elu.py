"""Cases of elu: alphas at, below and above 1, negative; values near 0 where eˣ - 1 cancels."""

from opproof.cases._rows.elementwise import elementwise, full_elementwise
from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows
from opproof.cases._rows.row import BETWEEN

_PARAMS = ("alpha=1.0", "alpha=0.5", "alpha=2.0", "alpha=0.1", "alpha=-0.3")

SMOKE = ["x=7x33", "x=5x9;alpha=0.5"]
STANDARD = [
    *elementwise(_PARAMS, kinks=True, drop=("positive", "small")),
    "x=6x11;alpha=2.0;fill=small",
    "x=6x11;fill=small;f32",
    f"x=5x131;alpha={BETWEEN};fill=negative;f16,bf16",
]
LAID = laid_rows()
LONG, LONGEST = long_rows()
FULL = full_elementwise(_PARAMS[:1])
