"""Cases of norm: every kind of p, rows of zeros, ties, axes and layouts in turn."""

from opproof.cases._rows.aligned import aligned_rows
from opproof.cases._rows.laid import laid_dim
from opproof.cases._rows.long import long_dim
from opproof.cases._rows.reductions import TOGETHER
from opproof.cases._rows.row import BETWEEN
from opproof.cases._rows.shapes import wide_dim

SMOKE = [
    "x=7x33;dim=-1",
]
STANDARD = [
    "x=9x4;p=2.0;dim=-1;fill=heavy;f16",
    "x=25x7;p=2.0;dim=-1;fill=special-rows",
    "x=25x7;p=inf;dim=-1;fill=special-rows",
    "x=7x25;p=1.0;dim=0;fill=special-columns",
    "x=9x9;p=2.0;dim=0",
    "x=5x31;p=1.0;dim=0;fill=wide",
    "x=17x9;p=inf;dim=-1;layout=offset",
    "x=2x3x65;p=3.0;dim=1;layout=transposed",
    "x=2x3x4x7;p=2.0;dim=(1,3);layout=permuted",
    "x=2x3x4x7;p=1.0;dim=(-1,0);keepdim=true",
    "x=6x11;p=2.0;dim=None",
    "x=6x11;p=-inf;dim=None;keepdim=true",
    "x=3x33;p=2.0;dim=-1;fill=extreme;layout=sliced",
    "x=4x128;p=1.5;dim=1;layout=gapped;f32,f16",
    "x=9x4;p=1.5;dim=-1;layout=gapped;bf16",
    "x=5x7x9;p=2.0;dim=1;layout=broadcast",
    "x=33x5;p=0.0;dim=-1;fill=zeros",
    "x=33x5;p=0.5;dim=-1;fill=positive",
    "x=9x3;p=1.0;dim=-1;fill=zeros",
    "x=9x3;p=1.5;dim=-1;fill=zeros;f32",
    "x=9x2;p=2.0;dim=-1;fill=zeros",
    "x=17x2;p=inf;dim=-1;fill=ties",
    "x=9x3;p=-inf;dim=0;fill=kink;layout=transposed",
    "x=9x3;p=3.0;dim=-1;fill=signs",
    "x=9x2;p=2.0;dim=-1;fill=special",
    "x=9x97;p=2.0;dim=-1;fill=negative;f32,f16",
    "x=6x11;p=2.0;dim=-2;fill=small;layout=transposed",
    "x=4x1;p=2.0;dim=-1",
    "x=0x3;p=2.0;dim=-1",
    "x=3x0;p=1.0;dim=-1",
    "x=5x1031;p=2.0;dim=-1;f32,f16",
    "x=2x4099;p=1.0;dim=-1;f32",
    f"x=131x9;p={1 + 16 * BETWEEN};dim=-1;f16,bf16",
    "x=1031x3;dim=-1;layout=sliced",
    "x=9x4099;p=2.0;dim=-1;fill=constant;f16,bf16",
    "x=33x31;p=3.0;dim=-1;fill=offset;f16,bf16",
    "x=33x5;p=0.5;dim=-1;fill=zeros",
    "x=2x3x2x5x3x4;dim=3;f32;layout=permuted",
    "x=6x6x6;dim=1;layout=transposed",
    "x=263x257;dim=None;f32",
]
LAID = laid_dim()
ALIGNED = aligned_rows("dim=-1", sixteen=False)
LONG, LONGEST = long_dim(dtype="f32")
SHAPES = [
    "x=5x257;dim=-1;fill=outliers;f16",
    *wide_dim(keep=True),
    *TOGETHER,
]
FULL = [
    "x=2x12289;p=2.0;dim=-1",
    "x=65537x3;p=2.0;dim=-1",
]
