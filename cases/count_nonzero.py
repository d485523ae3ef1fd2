"""Cases of count_nonzero: rows with and without zeros, one axis, several, all; a NaN and a -0."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import long_dim
from opproof.cases._rows.reasons import TRUTH_OF_ROWS
from opproof.cases._rows.typed import typed
from opproof.cases.any import LAID
from opproof.cases.any import STANDARD as _ANY

SMOKE = ["x=33x7;dim=-1;fill=zeros"]
STANDARD = [
    *(row for row in _ANY if "keepdim" not in row),
    "x=9x97;dim=-1;fill=zeros;layout=offset",
    "x=5x1031;dim=-1;fill=signs",
]
TYPED = typed("signed unsigned", *SMOKE, *STANDARD, ends=False)
ALIGNED = aligned(
    "x=16x64;dim=-1;fill=zeros",
    "x=64x128;dim=0;fill=zeros",
    "x=2x16x64;dim=1;fill=zeros",
    "x=16x256;dim=-1;fill=signs",
    "x=48x64;dim=-1;fill=zeros",
    "x=2x16x32;dim=-1;fill=zeros",
    "x=32x64;dim=0;fill=zeros",
    "x=16x128;dim=0;fill=zeros",
)
LONG, LONGEST = long_dim("fill=zeros")
SHAPES = ["x=1031x67;dim=-1;fill=zeros;f32"]
FULL = ["x=2x12289;dim=-1;fill=zeros", "x=65537x2;dim=-1;fill=zeros"]
WITHOUT = TRUTH_OF_ROWS

__all__ = ["ALIGNED", "FULL", "LAID", "LONG", "LONGEST", "SHAPES", "SMOKE", "STANDARD", "TYPED", "WITHOUT"]
