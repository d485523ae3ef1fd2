"""Cases of scale: factors of both signs, zero bias and others."""

from opproof.cases._rows.elementwise import elementwise, full_elementwise
from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows
from opproof.cases._rows.row import BETWEEN

_PARAMS = ("s=0.1", "s=-2.5;b=0.75", "s=1.5;b=-3.0", "s=0.5;b=0.5")

SMOKE = ["x=7x33;s=0.1", "x=7x33;s=-2.5;b=0.75"]
STANDARD = [
    *elementwise(_PARAMS, drop=("small",)),
    "x=6x11;s=-2.5;fill=small",
    # powers of two, of numbers around the least: normal, subnormal, none
    *(f"x=6x33;s={s};fill=small" for s in ("0.5", "0.0625", "16.0")),
    "x=3x17;s=-3.0;b=2.0;fill=offset;layout=sliced",
    f"x=5x131;s={BETWEEN};f16,bf16",
]
LAID = laid_rows("s=-2.5;b=0.75")
LONG, LONGEST = long_rows("s=-2.5;b=0.75")
FULL = full_elementwise(_PARAMS[:1])
