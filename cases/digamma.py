"""Cases of digamma: values near its zero at 1.46, near 0, and large ones; no poles."""

from opproof.cases._rows.elementwise import elementwise, full_elementwise
from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows

SMOKE = ["x=7x33"]
STANDARD = [*elementwise(drop=("small",))]
LAID = laid_rows()
LONG, LONGEST = long_rows()
FULL = full_elementwise()
