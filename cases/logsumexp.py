"""Cases of logsumexp: saturated rows, rows of -inf, one axis and several; long rows wide or constant: they differ."""

from opproof.cases._rows.aligned import aligned_rows
from opproof.cases._rows.laid import laid_dim
from opproof.cases._rows.long import long_dim
from opproof.cases._rows.reductions import TOGETHER
from opproof.cases._rows.shapes import wide_dim

SMOKE = [
    "x=33x7;dim=-1;fill=wide",
]
STANDARD = [
    "x=9x33;dim=-1;fill=far;f32",
    "x=9x33;dim=-1;fill=farther;f32,bf16",
    "x=25x7;dim=-1;fill=special-rows",
    "x=7x25;dim=0;fill=special-columns",
    "x=9,;dim=0",
    "x=9x65;dim=0",
    "x=3x65;dim=0",
    "x=5x31;dim=0;fill=wide",
    "x=17x32;dim=-1;fill=wide;layout=offset",
    "x=2x3x65;dim=1;layout=transposed",
    "x=2x3x4x7;dim=1;layout=permuted",
    "x=33x3;dim=-1;fill=extreme;layout=sliced",
    "x=4x128;dim=0;fill=wide;layout=gapped",
    "x=5x7x9;dim=1;layout=broadcast",
    "x=33x5;dim=-1;fill=negative",
    "x=9x66;dim=0;fill=positive;layout=transposed",
    "x=9x257;dim=-1;fill=wide;f32,f16",
    "x=2x131;dim=-2;fill=offset",
    "x=6x7;dim=-1;fill=small;f32",
    "x=33x7;dim=-1;fill=special",
    "x=4x1;dim=-1",
    "x=0x3;dim=-1",
    "x=3x0;dim=-1",
    "x=2x0x5;dim=1;keepdim=true",
    "x=9x768;dim=-1;fill=wide;f32",
    "x=9x768;dim=-1;fill=constant;f16,bf16",
    "x=9x1031;dim=-1;fill=wide;f32,f16",
    "x=9x1031;dim=-1;fill=constant;bf16",
    "x=5x4099;dim=-1;fill=wide;f32",
    "x=5x3x7x2;dim=(1,3);layout=permuted;fill=wide",
    "x=3x5x7x2;dim=(-1,0);keepdim=true;fill=wide",
    "x=3x5x9;dim=1;keepdim=true;layout=gapped",
    "x=4x9;dim=0;fill=ties",
    "x=5x4;dim=-1;fill=constant",
    "x=17x3;dim=-1;fill=zeros",
    "x=1031x3;dim=-1;layout=sliced",
    "x=17x3;dim=-1;layout=offset",
    "x=9x4099;dim=-1;fill=constant;f16",
    "x=9x257;dim=-1;fill=past-exp",
    "x=2x3x2x5x3x4;dim=3;f32;layout=permuted",
    "x=6x6x6;dim=1;layout=transposed",
]
LAID = laid_dim()
ALIGNED = aligned_rows("dim=-1", sixteen=False)
LONG, LONGEST = long_dim(dtype="f32")
SHAPES = [
    "x=9x16391;dim=-1;fill=crest;f32",
    *wide_dim(),
    *TOGETHER,
]
FULL = [
    "x=9x12289;dim=-1;fill=wide;f32",
    "x=65537x3;dim=-1",
]
