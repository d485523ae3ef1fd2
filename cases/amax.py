"""Cases of amax: one axis, several, all; ties share the gradient."""

from opproof.cases._rows.aligned import aligned_rows
from opproof.cases._rows.laid import laid_dim
from opproof.cases._rows.long import long_dim
from opproof.cases._rows.reductions import TOGETHER
from opproof.cases._rows.shapes import alone_dim, wide_dim
from opproof.cases._rows.typed import typed

SMOKE = ["x=7x33;dim=-1"]
STANDARD = [
    "x=9x7;dim=-1;fill=edges",
    "x=25x7;dim=-1;fill=special-rows",
    "x=7x25;dim=0;fill=special-columns",
    "x=9,;dim=0",
    "x=5x31;dim=0;fill=wide",
    "x=3x32;dim=-1;keepdim=true;layout=offset",
    "x=2x3x65;dim=1;layout=transposed",
    "x=2x3x4x7;dim=(1,3);layout=permuted",
    "x=2x3x4x7;dim=(-1,0);keepdim=true",
    "x=3x33;dim=-1;fill=extreme;layout=sliced",
    "x=4x128;dim=1;layout=gapped",
    "x=5x63;dim=0;layout=broadcast",
    "x=6x11;dim=None",
    "x=6x11;dim=None;keepdim=true",
    "x=3x97;dim=-1;fill=negative",
    "x=9x97;dim=-1;fill=farther",
    "x=3x66;dim=-1;fill=positive",
    "x=6x3;dim=-1;fill=ties",
    "x=4x9;dim=0;fill=kink;layout=transposed",
    "x=3x5;dim=-1;fill=constant",
    "x=9x4;dim=-1;fill=special",
    "x=4x1;dim=-1",
    "x=0x3;dim=-1",
    "x=3x0;dim=-1",
    "x=2x0x5;dim=1;keepdim=true",
    "x=2x1031;dim=-1",
    "x=5x9;dim=-1;layout=gapped",
    "x=5x7x9;dim=1;layout=broadcast",
    "x=1031x3;dim=-1;layout=transposed",
    "x=17x3;dim=-1;layout=offset",
    "x=5x257;dim=-1;fill=constant",
    "x=2x3x2x5x3x4;dim=3;f32;layout=permuted",
    "x=6x6x6;dim=1;layout=transposed",
    "x=263x257;dim=None;f32",
]
TYPED = typed("signed unsigned", "x=33x2;dim=-1", *SMOKE, *STANDARD)
LAID = laid_dim()
#: At these seeds no two of the largest are too close for a difference to tell.
ALIGNED = [
    *aligned_rows("dim=-1", longest=256),
    "x=16x1024;dim=-1;f16;seed=2",
    "x=16x4096;dim=-1;f16;seed=6",
]
LONG, LONGEST = long_dim()
SHAPES = [
    *alone_dim(),
    *wide_dim(),
    *TOGETHER,
]
FULL = ["x=2x12289;dim=-1", "x=65537x3;dim=-1"]
