"""Cases of log1p: values above -1 (the domain); near 0 it is a copy in 16 bits."""

from opproof.cases._rows import elementwise, full_elementwise

SMOKE = ["x=7x33"]
STANDARD = [
    *elementwise(drop=("small",)),
    "x=3x17;fill=offset;layout=sliced",
    "x=6x11;fill=small;f32",
]
FULL = full_elementwise()
