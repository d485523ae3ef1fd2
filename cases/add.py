"""Cases of add: every kind of broadcast, one tensor used twice."""

from opproof.cases._rows.elementwise import EXTREMES_MEET, SQUARES, binary, full_binary
from opproof.cases._rows.laid import laid_binary
from opproof.cases._rows.long import long_binary
from opproof.cases._rows.mixed import HALVES, NORMS, mixed
from opproof.cases._rows.typed import typed

SMOKE = ["a=7x33;b=7x33", "a=1x3;b=4x3"]
STANDARD = binary(exact=True)
TYPED = [*typed("float8 signed unsigned", *SMOKE, *STANDARD), "a=33x65;b=33x65;f8e4m3,f8e5m2"]
MIXED = mixed(
    "b",
    NORMS + HALVES,
    "a=7x33;b=33,",
    "a=2x3x9;b=3x1",
    "a=5x64;b=64,;layout=a:transposed",
    "a=4x65;b=4x65;fill=wide",
    "a=4x9;b=4x9;fill=wide",
)
STANDARD = [*STANDARD, "a=4099x3;b=3,;fill=growing;f16,bf16"]
LAID = laid_binary()
LONG, LONGEST = long_binary()
FULL = full_binary()
SHAPES = [
    "a=65x7;b=7,;fill=spread;f32",
    *SQUARES,
    *EXTREMES_MEET,
]
