"""Cases of erfc: 2 on the left, on the right numbers that 1 - erf(x) has no digit of, small values."""

from opproof.cases._laid import laid_rows
from opproof.cases._long import long_rows
from opproof.cases._rows import elementwise, full_elementwise

SMOKE = ["x=7x33"]
STANDARD = [
    *elementwise(drop=("small",)),
    "x=6x11;fill=small;f32,f16",
    "x=6x11;fill=mixed;bf16",
    "x=4x19;fill=halves;layout=sliced",
]
LAID = laid_rows()
LONG, LONGEST = long_rows()
FULL = full_elementwise()
