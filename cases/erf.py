"""Cases of erf: saturation on both sides, small values."""

from opproof.cases._rows import elementwise, full_elementwise

SMOKE = ["x=7x33"]
STANDARD = [
    *elementwise(drop=("small",)),
    "x=6x11;fill=small;f32",
    "x=4x19;fill=halves;layout=sliced",
]
FULL = full_elementwise()
