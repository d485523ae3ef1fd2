"""Cases of pow: two tensors that broadcast, and numbers as exponents (whole, negative, 0, 1, fractions)."""

from opproof.cases._rows.elementwise import EXTREMES_MEET, SQUARES, binary, full_binary
from opproof.cases._rows.laid import laid_binary
from opproof.cases._rows.long import long_binary

_EXPONENTS = ("exponent=2.0", "exponent=3.0", "exponent=0.5", "exponent=-1.0", "exponent=1.5", "exponent=-0.5")

SMOKE = ["a=7x33;b=7x33", "a=1x3;b=4x3", "a=7x33;exponent=2.0"]
STANDARD = [
    "a=9x33;b=9x33;fill=meet",
    "a=9x33;b=9x33;fill=steep;f32,bf16",
    "a=9x33;b=9x33;fill=steep;f64",
    *binary(drop=("extreme",)),
    *(f"a=5x9;{e}" for e in _EXPONENTS),
    "a=3x32;exponent=2.0;fill=zeros",
    "a=3x31;exponent=3.0;fill=negative;layout=transposed",
    "a=2x3x65;exponent=3.0;fill=wide;layout=permuted",
    "a=127,;exponent=-1.0;fill=extreme",
    "a=6x11;exponent=2.0;fill=special",
    "a=3x33;exponent=-2.0;layout=sliced",
    "a=5x9;exponent=2;fill=exact",
    "a=4x128;exponent=0.5;fill=wide;layout=gapped",
]
LAID = laid_binary()
LONG, LONGEST = long_binary()
FULL = full_binary()
SHAPES = [
    "a=9x33;b=9x33;fill=brink",
    *SQUARES,
    *EXTREMES_MEET,
]
