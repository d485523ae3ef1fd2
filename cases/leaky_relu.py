"""Cases of leaky_relu: slopes below, at and above those that implementations special-case."""

from opproof.cases._rows.elementwise import elementwise, full_elementwise
from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows
from opproof.cases._rows.row import BETWEEN

_SLOPES = (
    "negative_slope=0.01",
    "negative_slope=0.1",
    "negative_slope=-0.2",
    "negative_slope=1.5",
    "negative_slope=0.0",
)

SMOKE = ["x=7x33;negative_slope=0.1"]
STANDARD = [
    *elementwise(_SLOPES, kinks=True, drop=("positive",)),
    f"x=5x131;negative_slope={BETWEEN};fill=negative;f16,bf16",
]
LAID = laid_rows()
LONG, LONGEST = long_rows()
FULL = full_elementwise(_SLOPES[:1])
