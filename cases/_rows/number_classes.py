"""Rows of what asks whether numbers are special: NaN, infinities and numbers side by side, in every layout."""

from opproof.cases._rows.discrete import classes
from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows
from opproof.cases._rows.reasons import FINITE

SMOKE = ["x=7x33;fill=special"]
STANDARD = classes()
LAID = laid_rows("fill=special")
LONG, LONGEST = long_rows("fill=special")
FULL = ["x=2x12289;fill=special", "x=65537x3;fill=special"]
WITHOUT = FINITE
