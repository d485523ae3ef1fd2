"""Cases of bitcast: each float dtype as integers as wide and narrower, subnormal numbers, infinities, layouts."""

from itertools import cycle

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.row import join

_KINDS = ("of=f32;to=i32;f32", "of=f16;to=i16;f16", "of=bf16;to=i16;bf16", "of=f32;to=i16;f32", "of=f16;to=i8;f16")
_ROWS = (
    "x=19,",
    "x=5x31;layout=transposed;fill=wide",
    "x=2x3x65;layout=permuted",
    "x=3x33;layout=sliced",
    "x=4x128;layout=gapped",
    "x=5x63;layout=broadcast",
    "x=3x32;layout=offset",
    "x=127,;fill=extreme",
    "x=2x257;fill=zeros",
    "x=6x11;fill=small",
    "x=9x33;fill=subnormal",
    "x=2x97;fill=positive",
    "x=2x99;fill=negative",
    "x=9,;fill=signs",
    "x=9x9;fill=exact",
    "x=3x0",
    "x=0d",
    "x=5x1031",
    "x=2x4099",
    "x=2x3x1x2x3x5;layout=permuted",
    "x=1,",
    "x=64x64;fill=wide",
)

SMOKE = ["x=7x33;of=f32;to=i32;f32"]
STANDARD = [
    *(join("x=7x33", kind) for kind in (*_KINDS[1:], "of=bf16;to=i8;bf16", "of=f32;to=i8;f32")),
    *(join(row, kind) for row, kind in zip(_ROWS, cycle(_KINDS))),
    *(join(row, kind) for row, kind in zip(_ROWS, cycle(_KINDS[2:] + _KINDS[:2]))),
    "x=7x33;of=f64;to=i64;f64",
    "x=7x9;of=f64;to=i32;f64;layout=transposed",
]
LAID = ["x=2x3x5x9;of=f32;to=i32;f32;layout=cropped", "x=1x2;of=f32;to=i16;f32;layout=offset"]
ALIGNED = aligned("x=16x64;of=f32;to=i32;f32", "x=64x128;of=f32;to=i32;f32", "x=16x256;of=f32;to=i16;f32")
LONG, LONGEST = lengths("x={n}x2;of=f32;to=i32;f32", "x=2x{n};of=f32;to=i32;f32")
FULL = ["x=2x12289;of=f32;to=i32;f32", "x=65537x3;of=f32;to=i32;f32"]
WITHOUT = {"NaN, inf": "which NaN it is that stands for any is no rule that libraries share"}
