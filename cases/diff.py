"""Cases of diff: each axis, differences of differences, rows of one element and of fewer than are taken away."""

from opproof.cases._rows.aligned import aligned_rows
from opproof.cases._rows.laid import laid_dim
from opproof.cases._rows.long import long_dim
from opproof.cases._rows.shapes import wide_dim

SMOKE = ["x=7x33;dim=-1", "x=7x33;n=2;dim=0"]
STANDARD = [
    "x=9,;dim=0",
    "x=5x31;n=3;dim=0;fill=wide",
    "x=9x32;dim=-1;layout=offset",
    "x=2x3x65;dim=1;layout=transposed",
    "x=2x3x4x7;n=2;dim=1;layout=permuted",
    "x=9x33;dim=-1;fill=extreme;layout=sliced",
    "x=4x128;n=2;dim=1;layout=gapped",
    "x=5x7x9;dim=1;layout=broadcast",
    "x=9x97;dim=-1;fill=negative",
    "x=9x66;n=4;dim=-1;fill=positive;layout=transposed",
    "x=9x257;dim=-1;fill=zeros",
    "x=6x11;n=2;dim=-2;fill=small",
    "x=17x99;dim=-1;fill=offset",
    "x=33x7;dim=-1;fill=special",
    "x=25x7;dim=-1;fill=special-rows",
    "x=7x25;dim=0;fill=special-columns",
    "x=5x9;dim=-1;fill=exact",
    "x=5x9;n=2;dim=0;fill=signs;layout=transposed",
    "x=4x2;dim=-1",
    "x=3x4;n=3;dim=-1",
    "x=0x3;dim=-1",
    "x=3x768;dim=0",
    "x=5x1031;dim=-1",
    "x=2x4099;n=2;dim=-1;f32",
    "x=2x3x2x5x3x4;dim=3;layout=permuted;f32",
    "x=6x6x6;dim=1;layout=transposed",
]
LAID = laid_dim()
ALIGNED = aligned_rows("dim=-1")
LONG, LONGEST = long_dim(past=("x=2x{n};dim=-1",))
SHAPES = [*wide_dim(one=False)]
FULL = ["x=2x12289;dim=-1", "x=65537x3;dim=-1"]
