"""Cases of cholesky: definite matrices of 1 to 129 rows, batches, each layout, far from zero and wide."""

from opproof.cases._rows.square_matrices import FULL, LAID, LONG, LONGEST, SHORT, SMOKE, STANDARD, WITHOUT

__all__ = ["FULL", "LAID", "LONG", "LONGEST", "SHORT", "SMOKE", "STANDARD", "WITHOUT"]
