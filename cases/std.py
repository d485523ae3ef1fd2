"""Cases of std: corrections 0, 1 and 2, one axis, several, all; rows of equal elements, where its gradient jumps."""

from opproof.cases._rows.aligned import aligned_rows
from opproof.cases._rows.laid import laid_dim
from opproof.cases._rows.long import long_dim
from opproof.cases._rows.reductions import CONCENTRATING, SEVERAL, TOGETHER, one_axis
from opproof.cases._rows.shapes import wide_dim

SMOKE = [
    "x=33x17;dim=-1",
]
STANDARD = [
    "x=5x65;dim=-1;fill=offset-1e3;f32,f16,bf16",
    "x=5x65;dim=-1;fill=offset-1e4;f32",
    "x=5x65;dim=-1;fill=heavy;f16",
    *one_axis(
        concentrates=CONCENTRATING,
        drop=("x=5x31", "x=9x32", "fill=extreme", "fill=zeros", "fill=small", "x=3x768", "x=4x1"),
    ),
    "x=33x16;dim=-1;layout=offset",
    "x=5x31;dim=0;correction=0",
    "x=5x3x7x2;dim=(1,3);correction=2",
    "x=15x5;dim=-1;correction=0;keepdim=true;layout=gapped",
    *SEVERAL,
    "x=9x33;dim=-1;fill=extreme;layout=sliced",
    "x=33x2;dim=-1;fill=ties",
    "x=33x2;dim=-1;fill=exact;layout=transposed",
    "x=5x8;dim=0;fill=zeros",
    "x=5x11;dim=-1;fill=small;f32,bf16",
    "x=4x1;dim=-1;correction=0",
    "x=4x1;dim=-1",
    "x=1031x5;dim=-1",
    "x=33x2062;dim=-1;fill=extreme;bf16",
    "x=263x257;dim=None;f32",
]
LAID = laid_dim()
ALIGNED = aligned_rows("dim=-1", sixteen=False)
LONG, LONGEST = long_dim(dtype="f32", past=("x=2x{n};dim=-1", "x={n}x1;dim=-1;correction=0"))
SHAPES = [
    "x=3x1031;dim=-1;fill=leading;f32",
    "x=5x257;dim=-1;fill=outliers;f16",
    "x=3x1031;dim=-1;fill=offset-1e3;f32",
    *wide_dim(one=False),
    *TOGETHER,
]
FULL = [
    "x=2x12289;dim=-1",
    "x=65537x3;dim=-1",
]
