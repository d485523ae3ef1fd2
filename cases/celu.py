"""Cases of celu: alphas at, below and above 1; values near 0 where eˣ - 1 cancels."""

from opproof.cases._rows.elementwise import elementwise, full_elementwise
from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows
from opproof.cases._rows.row import BETWEEN

_PARAMS = ("alpha=1.0", "alpha=0.5", "alpha=2.5", "alpha=0.1")

SMOKE = ["x=7x33", "x=5x9;alpha=0.5"]
STANDARD = [
    "x=5x33;alpha=0.5;fill=edges",
    *elementwise(_PARAMS, drop=("positive", "small")),
    "x=6x11;alpha=0.01;fill=small;f32,f16",
    "x=5x9;fill=zeros",
    "x=6x11;alpha=0.1;f64",
    "x=6x11;fill=small;f32",
    f"x=5x131;alpha={8 * BETWEEN};fill=negative;f16,bf16",
]
LAID = laid_rows()
LONG, LONGEST = long_rows()
FULL = full_elementwise(_PARAMS[:1])
