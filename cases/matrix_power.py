"""Cases of matrix_power: no factor, one, two and up to nine, batches, each layout, small and far from zero."""

from itertools import cycle

from opproof.cases._rows import square_matrices
from opproof.cases._rows.long import Limit, lengths
from opproof.cases._rows.reasons import PRODUCTS
from opproof.cases._rows.row import join

_POWERS = ("n=3", "n=2", "n=5", "n=1", "n=4")


def _in_turn(rows: list[str]) -> list[str]:
    return [join(row, power) for row, power in zip(rows, cycle(_POWERS))]


SMOKE = ["x=4x4;n=3", "x=5x5;n=2"]
STANDARD = [
    *_in_turn(square_matrices.STANDARD),
    "x=3x3;n=0",
    "x=2x2;n=9;f32",
    "x=3x4x4;n=6;fill=zeros",
    "x=3x4x4;n=2;fill=exact",
    "x=9x4x4;n=2;fill=special",
]
LAID = ["x=4x3x3;n=3;layout=cropped", "x=1x1;n=2;layout=offset"]
LONG, LONGEST = lengths("!x={n}x1x1;n=3", "x={n}x2x2;n=2;f32")
SHORT = {"x.last": Limit(0, "matrices are square, and one of 1000 rows takes seconds")}
FULL = ["x=65537x2x2;n=3;f32", "x=129x129;n=2;f32"]
WITHOUT = {"extreme": PRODUCTS["extreme"]}
