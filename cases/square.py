"""Cases of square: sizes around vector widths, every layout, large and small values."""

from opproof.cases._rows import elementwise, full_elementwise

SMOKE = ["x=7x33"]
STANDARD = [
    *elementwise(drop=("small",)),
    "x=3x17;fill=offset",
    "x=6x11;fill=small;f32,bf16",
]
FULL = full_elementwise()
