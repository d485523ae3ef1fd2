"""Cases of count_leading_zeros: integers of both signs and of every length, in every layout."""

from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows
from opproof.cases.bitwise_not import STANDARD

SMOKE = ["x=7x33;f32"]
LAID = laid_rows("f32")
LONG, LONGEST = long_rows(dtype="f32")
FULL = ["x=2x12289;f32", "x=65537x3;f32"]
WITHOUT = {"negative": "every row holds integers of both signs, whatever its fill"}

__all__ = ["FULL", "LAID", "LONG", "LONGEST", "SMOKE", "STANDARD", "WITHOUT"]
