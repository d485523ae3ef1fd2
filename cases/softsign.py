"""Cases of softsign: saturation on both sides; near 0 it is a copy."""

from opproof.cases._rows import elementwise, full_elementwise

SMOKE = ["x=7x33"]
STANDARD = [
    "x=5x33;fill=edges",
    *elementwise(drop=("small",)),
    "x=3x17;fill=offset;layout=sliced;f32",
    "x=6x11;fill=small;f32",
]
FULL = full_elementwise()
