"""Cases of matrix_exp: matrices of 1 to 33 rows, batches, each layout, and one matrix of a small norm."""

from opproof.cases._rows import square_matrices
from opproof.cases._rows.square_matrices import FULL, LAID, LONG, LONGEST, SHORT, SMOKE, WITHOUT

#: One matrix has polynomials of its own, by its norm: that of seed 22 is 0.54.
STANDARD = [*square_matrices.STANDARD, "x=2x2;f32;seed=22", "x=2x2;fill=small", "x=5x5;fill=small"]

__all__ = ["FULL", "LAID", "LONG", "LONGEST", "SHORT", "SMOKE", "STANDARD", "WITHOUT"]
