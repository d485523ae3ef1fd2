"""Cases of minimum: every kind of broadcast, ties that share the gradient."""

from opproof.cases._rows.elementwise import EXTREMES_MEET, SQUARES, binary, full_binary
from opproof.cases._rows.laid import laid_binary
from opproof.cases._rows.long import long_binary
from opproof.cases._rows.typed import typed

SMOKE = ["a=7x33;b=7x33", "a=1x13;b=4x13"]
STANDARD = [
    "a=9x33;b=9x33;fill=infinite;f32",
    "a=9x33;b=9x33;fill=edges",
    "a=9x33;b=9x33;fill=meet",
    *(row for row in binary() if "@a" not in row),
    "a=4x9;b=4x9;fill=ties",
    "a=2x3x9;b=3x9;fill=halves;layout=a:transposed",
    "a=9x33;b=9x33;fill=constant",
    "a=5x7;b=5x7;fill=exact",
    "a=9x33;b=9x33;fill=negative",
]
TYPED = typed("float8 signed unsigned", *SMOKE, *STANDARD)
LAID = laid_binary()
LONG, LONGEST = long_binary()
FULL = full_binary()
WITHOUT = {"given twice": "of a tensor with itself it is a copy"}
SHAPES = [
    *SQUARES,
    *EXTREMES_MEET,
]
