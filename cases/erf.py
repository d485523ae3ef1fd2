"""Cases of erf: saturation on both sides, small values."""

from opproof.cases._rows import elementwise, full_elementwise

SMOKE = ["x=7x33"]
STANDARD = [
    *elementwise(),
    "x=4x19;fill=halves;layout=sliced",
]
FULL = full_elementwise()
