"""Cases of sign: both signs, zeros of both signs; on rows of one sign it is constant."""

from opproof.cases._rows.elementwise import elementwise, full_elementwise
from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows
from opproof.cases._rows.typed import typed

SMOKE = ["x=7x33"]
STANDARD = [
    *elementwise(kinks=True, drop=("positive", "negative")),
    "x=5x9;fill=subnormal",
    "x=5x13;fill=tiny",
]
TYPED = typed("signed unsigned", *SMOKE, *STANDARD)
LAID = laid_rows()
LONG, LONGEST = long_rows()
FULL = full_elementwise()
WITHOUT = {"negative": "of negative numbers it is one constant"}
