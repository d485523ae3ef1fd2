"""Cases of sub: every kind of broadcast; a - a is zero and shows nothing."""

from opproof.cases._rows.elementwise import EXTREMES_MEET, SQUARES, binary, full_binary
from opproof.cases._rows.laid import laid_binary
from opproof.cases._rows.long import long_binary
from opproof.cases._rows.reasons import ITSELF
from opproof.cases._rows.typed import typed

SMOKE = ["a=7x33;b=7x33", "a=1x3;b=4x3"]
STANDARD = [
    *(row for row in binary(exact=True) if "@a" not in row),
    "a=9x33;b=9x33;fill=meet",
    "a=4099x3;b=3,;fill=growing;f16,bf16",
]
TYPED = typed("signed unsigned", *SMOKE, *STANDARD)
LAID = laid_binary()
LONG, LONGEST = long_binary()
FULL = full_binary()
WITHOUT = ITSELF
SHAPES = [
    "a=65x7;b=7,;fill=spread;f32",
    *SQUARES,
    *EXTREMES_MEET,
]
