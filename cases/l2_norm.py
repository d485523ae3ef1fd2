"""Cases of l2_norm: rows longer and shorter than eps, rows of zeros, each axis."""

from opproof.cases._rows.aligned import aligned_rows
from opproof.cases._rows.laid import laid_dim
from opproof.cases._rows.long import long_dim
from opproof.cases._rows.row import BETWEEN
from opproof.cases._rows.shapes import wide_dim

SMOKE = [
    "x=7x33;dim=-1",
]
STANDARD = [
    "x=7x33;dim=-1;inplace=x",
    "x=33x5;dim=0;layout=transposed;inplace=x",
    "x=9x33;dim=-1;eps=1e-12;fill=small",
    "x=5x65;dim=-1;fill=offset-1e3;f32",
    "x=5x65;dim=-1;fill=offset-1e4;f32",
    "x=25x7;dim=-1;fill=special-rows",
    "x=7x25;dim=0;fill=special-columns",
    "x=9,;dim=0",
    "x=5x31;dim=-1;fill=wide",
    "x=3x32;dim=0;layout=offset",
    "x=2x3x65;dim=1;layout=transposed",
    "x=2x3x4x7;dim=-3;layout=permuted",
    "x=3x33;dim=-1;fill=extreme;layout=sliced",
    "x=4x128;dim=-1;layout=gapped",
    "x=5x63;dim=-1;layout=broadcast",
    "x=9x3;dim=-1;eps=2.0",
    "x=9x3;dim=-1;eps=0.1;fill=small",
    "x=7x5;dim=-1;eps=50.0",
    f"x=9x65;dim=-1;eps={512 * BETWEEN};f16,bf16",
    "x=9x2;dim=-1;eps=0.1;fill=zeros",
    "x=9x4;dim=-1;eps=0.5;fill=ties",
    "x=3x97;dim=-1;fill=offset",
    "x=6x11;dim=-2;fill=small",
    "x=3x66;dim=-1;fill=negative;layout=transposed",
    "x=5x16;dim=0;fill=constant",
    "x=33x1;dim=-1",
    "x=0x3;dim=-1",
    "x=3x0;dim=0",
    "x=3x768;dim=-1",
    "x=2x1031;dim=-1",
    "x=2x4099;dim=-1;f32",
    "x=65x2;dim=-1;fill=signs",
    "x=65x2;dim=-1;eps=1.0;fill=signs",
    "x=65x3;dim=-1;fill=special",
    "x=2x1031;dim=-1;fill=ties",
    "x=2x3x2x5x3x4;dim=3;f32;layout=permuted",
]
LAID = laid_dim()
ALIGNED = aligned_rows("dim=-1", sixteen=False)
LONG, LONGEST = long_dim(dtype="f32")
SHAPES = [
    "x=5x257;dim=-1;fill=outliers;f16",
    *wide_dim(one=False),
]
FULL = [
    "x=2x12289;dim=-1",
    "x=65537x3;dim=-1",
]
WITHOUT = {"heavy": "its gradient is subnormal in f16"}
PAIRED = [
    "x=7x5;dim=0;eps=2.5",
]
