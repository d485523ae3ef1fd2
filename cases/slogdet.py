"""Cases of slogdet: matrices of 1 to 33 rows, batches, each layout, far from zero and small."""

from opproof.cases import _square
from opproof.cases._square import FULL, LAID, LONG, LONGEST, SHORT, SMOKE, SWAPPED, WITHOUT

STANDARD = [*_square.STANDARD, *SWAPPED]

__all__ = ["FULL", "LAID", "LONG", "LONGEST", "SHORT", "SMOKE", "STANDARD", "WITHOUT"]
