"""Cases of fmod: signs of both, multiples of b, every kind of broadcast."""

from opproof.cases._rows.elementwise import EXTREMES_MEET, SQUARES, full_binary
from opproof.cases._rows.laid import laid_binary
from opproof.cases._rows.long import long_binary
from opproof.cases._rows.reasons import ITSELF
from opproof.cases._rows.remainders import IN_16_BITS, remainders
from opproof.cases._rows.typed import typed

SMOKE = ["a=7x33;b=7x33;f32,f64", "a=1x3;b=4x3;f32,f64"]
STANDARD = [
    "a=9x33;b=9x33;fill=edges;needs=a",
    "a=9x33;b=9x33;fill=meet;needs=a",
    *remainders(),
    "a=3x127;b=3x127;needs=a;fill=extreme",
]
TYPED = typed("signed unsigned", *SMOKE, *STANDARD)
LAID = [*laid_binary("f32"), *laid_binary("f16,bf16;needs=a")]
LONG, LONGEST = long_binary("needs=a")
FULL = [f"{row};f32" for row in full_binary()]
WITHOUT = ITSELF
SHAPES = [
    *SQUARES,
    *EXTREMES_MEET,
    *IN_16_BITS,
]
