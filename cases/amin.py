"""Cases of amin: one axis, several, all; ties share the gradient."""

from opproof.cases._rows.aligned import aligned_rows
from opproof.cases._rows.laid import laid_dim
from opproof.cases._rows.long import long_dim
from opproof.cases._rows.reductions import FULL, SEVERAL, TOGETHER, one_axis
from opproof.cases._rows.shapes import alone_dim, wide_dim
from opproof.cases._rows.typed import typed

SMOKE = ["x=7x33;dim=-1"]
STANDARD = [
    "x=9x7;dim=-1;fill=edges",
    "x=9x97;dim=-1;fill=farther",
    *one_axis(drop=("fill=zeros", "fill=small", "x=3x768", "x=2x4099")),
    *SEVERAL,
    "x=2x0x5;dim=1;keepdim=true",
    "x=9x3;dim=-1;fill=ties",
    "x=4x9;dim=0;fill=kink;layout=transposed",
    "x=3x5;dim=-1;fill=constant",
    "x=5x9;dim=0;fill=zeros",
    "x=1031x3;dim=-1",
    "x=5x257;dim=-1;fill=constant",
    "x=263x257;dim=None;f32",
]
TYPED = typed("signed unsigned", "x=33x2;dim=-1", *SMOKE, *STANDARD)
LAID = laid_dim()
#: In bfloat16 a row of 4096 has two that are the least.
ALIGNED = [
    *aligned_rows("dim=-1", longest=256),
    "x=16x1024;dim=-1;f16,f32",
    "x=16x4096;dim=-1;f16;layout=transposed",
]
LONG, LONGEST = long_dim()

__all__ = ["ALIGNED", "FULL", "LAID", "LONG", "LONGEST", "SMOKE", "STANDARD", "TYPED"]
SHAPES = [
    *alone_dim(),
    *wide_dim(),
    *TOGETHER,
]
