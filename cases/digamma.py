"""Cases of digamma: values near its zero at 1.46, near 0, and large ones; no poles."""

from opproof.cases._laid import laid_rows
from opproof.cases._long import long_rows
from opproof.cases._rows import elementwise, full_elementwise

SMOKE = ["x=7x33"]
STANDARD = [*elementwise(drop=("small",))]
LAID = laid_rows()
LONG, LONGEST = long_rows()
FULL = full_elementwise()
