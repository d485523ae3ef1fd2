"""Cases of cumsum: each axis, every layout, long sums, integers for exact ones."""

from opproof.cases._rows.aligned import aligned_rows
from opproof.cases._rows.laid import laid_dim
from opproof.cases._rows.long import long_dim
from opproof.cases._rows.reductions import one_axis
from opproof.cases._rows.shapes import wide_dim
from opproof.cases._rows.typed import typed

SMOKE = [
    "x=7x33;dim=-1",
]
STANDARD = [
    "x=7x33;dim=-1;inplace=x",
    "x=33x5;dim=0;layout=transposed;inplace=x",
    *one_axis(),
    "x=5x17;dim=-1;fill=exact",
    "x=3x5x7;dim=1;fill=exact;layout=permuted",
    "x=4x127;dim=-1;fill=signs;layout=sliced",
    "x=2x1031;dim=-1;fill=ties",
]
TYPED = typed("signed unsigned", *SMOKE, *STANDARD)
LAID = laid_dim()
ALIGNED = aligned_rows("dim=-1")
LONG, LONGEST = long_dim()
SHAPES = [
    *wide_dim(),
]
FULL = [
    "x=2x12289;dim=-1",
    "x=65537x3;dim=-1",
]
