"""Cases of cummax: each axis, every layout, ties, falling and rising rows, NaN."""

from opproof.cases._rows.aligned import aligned_rows
from opproof.cases._rows.laid import laid_dim
from opproof.cases._rows.long import long_dim
from opproof.cases._rows.reductions import one_axis
from opproof.cases._rows.shapes import alone_dim, wide_dim

SMOKE = ["x=7x33;dim=-1"]
STANDARD = [
    *one_axis(),
    "x=9x7;dim=-1;fill=edges",
    "x=5x17;dim=-1;fill=ties",
    "x=33x5;dim=0;fill=ties;layout=transposed",
    "x=5x66;dim=-1;fill=halves",
    "x=5x257;dim=-1;fill=ties",
]
LAID = laid_dim()
#: The longest rows cost the most of all: in f16, which has 16 x 1024 too, at full alone.
ALIGNED = [row.replace("f16,bf16", "bf16") if "16x4096" in row else row for row in aligned_rows("dim=-1")]
LONG, LONGEST = long_dim(halves=())  # ties of so many numbers take seconds to judge
SHAPES = [
    *alone_dim(whole=""),
    *wide_dim(),
]
FULL = ["x=2x12289;dim=-1", "x=65537x3;dim=-1", "x=16x4096;dim=-1;f16;layout=transposed"]
