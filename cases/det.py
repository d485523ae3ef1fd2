"""Cases of det: matrices of 1 to 33 rows, batches, each layout, far from zero and small."""

from opproof.cases._rows import square_matrices
from opproof.cases._rows.square_matrices import FULL, LAID, LONG, LONGEST, SHORT, SMOKE, SWAPPED, WITHOUT

STANDARD = [*square_matrices.STANDARD, *SWAPPED]

__all__ = ["FULL", "LAID", "LONG", "LONGEST", "SHAPES", "SHORT", "SMOKE", "STANDARD", "WITHOUT"]
SHAPES = [
    "x=8x5x5;fill=singular",
    "x=8x2x2;fill=singular",
    "x=8x3x3;fill=singular;layout=transposed",
]
