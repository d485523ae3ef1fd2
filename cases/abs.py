"""Cases of abs: both signs, zeros and the kink; on positive rows it is a copy."""

from opproof.cases._rows.elementwise import elementwise, full_elementwise
from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows
from opproof.cases._rows.typed import typed

SMOKE = ["x=7x33"]
STANDARD = [
    *elementwise(kinks=True, drop=("positive",)),
    "x=5x9;fill=subnormal",
]
TYPED = typed("float8 signed", *SMOKE, *STANDARD)
LAID = laid_rows()
LONG, LONGEST = long_rows()
FULL = full_elementwise()
