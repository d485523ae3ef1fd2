"""Cases of softmax: sizes around vector widths and past 1024 and 4096, each axis, each layout."""

from opproof.cases._rows.aligned import aligned_rows
from opproof.cases._rows.laid import laid_dim
from opproof.cases._rows.long import long_dim
from opproof.cases._rows.shapes import wide_dim

SMOKE = ["x=7x33;dim=-1"]
STANDARD = [
    "x=7x33;dim=-1;inplace=x",
    "x=33x5;dim=0;layout=transposed;inplace=x",
    "x=2x1031;dim=-1;f32,f16;inplace=x",
    "x=9x33;dim=-1;fill=far",
    "x=9x33;dim=-1;fill=farther;f32,bf16",
    "x=33x9;dim=0;fill=far;f32",
    "x=25x7;dim=-1;fill=special-rows",
    "x=7x25;dim=0;fill=special-columns",
    "x=9,;dim=0",
    "x=5x31;dim=-1;fill=wide",
    "x=3x32;dim=0;layout=offset",
    "x=2x3x65;dim=1;layout=transposed",
    "x=2x3x4x7;dim=-1;layout=permuted;fill=wide",
    "x=33x3;dim=-1;fill=extreme",
    "x=3x33x5;dim=-1;fill=extreme;layout=sliced",
    "x=4x128;dim=1;layout=gapped",
    "x=5x63;dim=1;layout=broadcast",
    "x=2x257;dim=-1;fill=zeros",
    "x=4x99;dim=0;fill=constant",
    "x=6x11;dim=-2;fill=small;f32",
    "x=3x97;dim=-1;fill=offset",
    "x=3x66;dim=-1;fill=negative;layout=transposed",
    "x=4x1;dim=-1",
    "x=3x0;dim=0",
    "x=3x768;dim=-1",
    "x=2x1031;dim=-1;f32,f16",
    "x=2x4099;dim=-1;f32",
    "x=65x3;dim=-1;fill=special",
    "x=2x1031;dim=-1;bf16",
    "x=2x1031;dim=-1;fill=ties",
    "x=9x257;dim=-1;fill=past-exp",
    "x=2x3x2x5x3x4;dim=3;f32;layout=permuted",
]
LAID = laid_dim()
ALIGNED = aligned_rows("dim=-1")
LONG, LONGEST = long_dim()
SHAPES = [
    "x=9x16391;dim=-1;fill=crest;f32",
    *wide_dim(),
    "x=5x5x5;dim=1;f32",
    # more rows than a block has, each longer than 4096
    "x=17x4099;dim=-1;f32",
    "x=18x4100;dim=-1;bf16",
    # as scores of attention, whose last axis is past a warp twice over; an axis before the last of a batch of matrices
    "x=3x17x131;dim=-1;f32,f16",
    "x=2x3x17x131;dim=-1;f32,f16",
    "x=2x3x9x5;dim=2;f32,f16",
    # kernels of f64 at ordinary sizes
    "x=5x131;dim=-1;f64",
    "x=33x9;dim=0;f64",
]
FULL = ["x=2x12289;dim=-1", "x=65537x3;dim=-1"]
