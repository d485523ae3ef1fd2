"""Cases of logcumsumexp: saturated rows, rows that rise and fall by thousands, rows of -inf, each axis."""

from opproof.cases._rows.aligned import aligned_rows
from opproof.cases._rows.laid import laid_dim
from opproof.cases._rows.long import long_dim
from opproof.cases._rows.reductions import one_axis
from opproof.cases._rows.shapes import wide_dim

SMOKE = ["x=7x33;dim=-1"]
STANDARD = [
    "x=33x5;dim=0;layout=transposed",
    *one_axis(),
    "x=9x33;dim=-1;fill=far;f32",
    "x=5x9;dim=-1;fill=constant",
    "x=4x4099;dim=-1;fill=wide;f16,bf16",
    "x=2x1031;dim=-1;fill=ties",
    "x=9x129;dim=-1;fill=past-exp",
]
LAID = laid_dim()
ALIGNED = aligned_rows("dim=-1")
LONG, LONGEST = long_dim(dtype="f32")
SHAPES = [
    *wide_dim(),
]
FULL = ["x=2x12289;dim=-1", "x=65537x3;dim=-1"]
