"""Cases of gelu_quick: saturation on both sides, large arguments."""

from opproof.cases._rows import elementwise, full_elementwise

SMOKE = ["x=7x33"]
STANDARD = [
    *elementwise(),
    "x=3x15;fill=candle-2114",
]
FULL = full_elementwise()
