"""Cases of var: corrections 0, 1 and 2, one axis, several, all; large means with a small spread, constant rows."""

from opproof.cases._rows.aligned import aligned_rows
from opproof.cases._rows.laid import laid_dim
from opproof.cases._rows.long import long_dim
from opproof.cases._rows.reductions import CONCENTRATING, SEVERAL, TOGETHER, one_axis
from opproof.cases._rows.shapes import wide_dim

SMOKE = [
    "x=7x33;dim=-1",
]
STANDARD = [
    *one_axis(concentrates=CONCENTRATING, drop=("x=4x1", "x=5x31", "fill=extreme", "fill=small", "x=3x768")),
    "x=5x65;dim=-1;fill=offset-1e3;f32,f16,bf16",
    "x=5x65;dim=-1;fill=offset-1e4;f32",
    *one_axis(concentrates=CONCENTRATING, drop=("x=4x1", "x=5x31", "fill=extreme", "fill=small", "x=3x768")),
    "x=5x31;dim=0;correction=0",
    "x=2x3x4x7;dim=(1,3);correction=2",
    "x=4x1;dim=-1;correction=0",
    "x=4x1;dim=-1",
    "x=15x5;dim=-1;correction=0;keepdim=true;layout=gapped",
    *SEVERAL,
    "x=33x2;dim=-1;fill=ties",
    "x=5x9x4;dim=1;fill=constant",
    "x=9x33;dim=-1;fill=extreme;layout=sliced;f32,bf16",
    "x=5x11;dim=-1;fill=small;f32,bf16",
    "x=1031x5;dim=-1",
    "x=17x5;dim=-1;layout=sliced;f16",
    "x=5x4099;dim=-1;fill=extreme;bf16",
    "x=263x257;dim=None;f32",
]
LAID = laid_dim()
ALIGNED = aligned_rows("dim=-1", sixteen=False)
LONG, LONGEST = long_dim(dtype="f32")
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
WITHOUT = {"heavy": "the variance is past the largest number of f16"}
