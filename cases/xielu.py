"""Cases of xielu: both sides of its kinks, unequal slopes, a large eps."""

from opproof.cases._rows.elementwise import elementwise, full_elementwise
from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows
from opproof.cases._rows.row import BETWEEN

_PARAMS = ("", "alpha_n=1.5;alpha_p=0.2", "beta=1.0", "eps=-0.5", "alpha_n=-0.7;alpha_p=0.3;beta=0.25")

SMOKE = ["x=7x33"]
STANDARD = [
    "x=5x33;eps=-0.5;fill=edges",
    *elementwise(
        _PARAMS,
        drop=(
            "infinite",
            "small",
        ),
    ),
    "x=4x33;eps=-0.5;fill=kink",
    "x=2x3x9;fill=kink;layout=transposed",
    "x=6x11;alpha_n=1.5;alpha_p=0.2;fill=small",
    "x=5x31;eps=-0.5",
    f"x=5x131;alpha_p={8 * BETWEEN};fill=offset;f16,bf16",
]
LAID = laid_rows()
LONG, LONGEST = long_rows()
FULL = full_elementwise(_PARAMS[:1])
WITHOUT = {"infinite": "its gradient there is that of x or of its square, which libraries take apart"}
PAIRED = [
    "x=5x33;alpha_n=0.5;alpha_p=1.5;beta=0.25;eps=-0.5",
]
