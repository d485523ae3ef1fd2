"""Cases of slogdet: matrices of 1 to 33 rows, batches, each layout, far from zero and small."""

from opproof.cases._rows import square_matrices
from opproof.cases._rows.square_matrices import FULL, LAID, LONG, LONGEST, SHORT, SMOKE, SWAPPED, WITHOUT

STANDARD = [*square_matrices.STANDARD, *SWAPPED]

__all__ = ["FULL", "LAID", "LONG", "LONGEST", "SHORT", "SMOKE", "STANDARD", "WITHOUT"]
