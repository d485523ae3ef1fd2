"""Cases of asinh: small values that scale by nearly 1, large ones whose square overflows."""

from opproof.cases._rows.elementwise import elementwise, full_elementwise
from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows

SMOKE = ["x=7x33"]
STANDARD = [*elementwise(drop=("small",)), "x=3x17;fill=offset;layout=sliced", "x=6x11;fill=mixed"]
LAID = laid_rows()
LONG, LONGEST = long_rows()
FULL = full_elementwise()
