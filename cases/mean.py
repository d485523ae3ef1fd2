"""Cases of mean: one axis, several, all; long rows; the mean of nothing."""

from opproof.cases._rows.aligned import aligned_rows
from opproof.cases._rows.laid import laid_dim
from opproof.cases._rows.long import long_dim
from opproof.cases._rows.reductions import FULL, ONE_SIGN, SEVERAL, TOGETHER, one_axis
from opproof.cases._rows.shapes import wide_dim

SMOKE = ["x=7x33;dim=-1"]
STANDARD = [
    "x=5x65;dim=-1;fill=offset-1e3;f32",
    "x=5x65;dim=-1;fill=offset-1e4;f32",
    "x=5x65;dim=-1;fill=heavy;f16",
    *one_axis(concentrates=ONE_SIGN),
    *SEVERAL,
    "x=1031x3;dim=-1;layout=sliced",
    "x=2x1031;dim=-1;fill=ties",
    "x=513x521;dim=None;f32",
    "x=1x65537;dim=-1;f16",  # a count past the largest number
]
LAID = laid_dim()
ALIGNED = aligned_rows("dim=-1", sixteen=False)
LONG, LONGEST = long_dim(dtype="f32")

__all__ = ["ALIGNED", "FULL", "LAID", "LONG", "LONGEST", "SMOKE", "STANDARD"]
SHAPES = [
    *wide_dim(),
    *TOGETHER,
]
