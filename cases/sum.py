"""Cases of sum: one axis, several, all; integers for exact sums, long rows for accumulation."""

from opproof.cases._rows.aligned import aligned_rows
from opproof.cases._rows.laid import laid_dim
from opproof.cases._rows.long import long_dim
from opproof.cases._rows.reductions import FULL, ONE_SIGN, SEVERAL, TOGETHER, one_axis
from opproof.cases._rows.shapes import wide_dim
from opproof.cases._rows.typed import typed

SMOKE = ["x=7x33;dim=-1"]
STANDARD = [
    *one_axis(concentrates=ONE_SIGN),
    *SEVERAL,
    "x=5x17;dim=-1;fill=exact",
    "x=3x5x7;dim=(0,2);fill=exact;layout=permuted",
    "x=4x127;dim=-1;fill=signs;layout=sliced",
    "x=1031x3;dim=-1;layout=sliced",
    "x=2x1031;dim=-1;fill=ties",
    "x=513x521;dim=None;f32",
]
TYPED = typed("signed unsigned", *SMOKE, *STANDARD)
LAID = laid_dim()
ALIGNED = aligned_rows("dim=-1")
LONG, LONGEST = long_dim(dtype="f32")

__all__ = ["ALIGNED", "FULL", "LAID", "LONG", "LONGEST", "SMOKE", "STANDARD", "TYPED"]
SHAPES = [
    *wide_dim(),
    # kernels of f64 at ordinary sizes
    "x=9x257;dim=-1;f64",
    "x=33x65;dim=0;f64",
    *TOGETHER,
]
