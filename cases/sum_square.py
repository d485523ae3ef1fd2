"""Cases of sum_square: one axis, several, all; squares that leave 16 bits, long rows for accumulation."""

from opproof.cases._rows.aligned import aligned_rows
from opproof.cases._rows.laid import laid_dim
from opproof.cases._rows.long import long_dim
from opproof.cases._rows.reductions import ONE_SIGN, SEVERAL, TOGETHER, one_axis
from opproof.cases._rows.shapes import wide_dim

SMOKE = ["x=7x33;dim=-1"]
STANDARD = [
    *one_axis(drop=("fill=small", "fill=extreme"), concentrates=ONE_SIGN),
    "x=6x11;dim=-2;fill=small;f32,bf16",
    "x=9x33;dim=-1;fill=extreme;layout=sliced;f32,bf16",
    *SEVERAL,
    "x=5x17;dim=-1;fill=exact",
    "x=3x5x7;dim=(0,2);fill=exact;layout=permuted",
    "x=4x127;dim=-1;fill=signs;layout=sliced",
    "x=1031x3;dim=-1;layout=sliced",
    "x=2x1031;dim=-1;fill=ties",
    "x=513x521;dim=None;f32",
]
LAID = laid_dim()
ALIGNED = aligned_rows("dim=-1")
LONG, LONGEST = long_dim(dtype="f32")

SHAPES = [
    *wide_dim(),
    # kernels of f64 at ordinary sizes
    "x=9x257;dim=-1;f64",
    "x=33x65;dim=0;f64",
    *TOGETHER,
]
