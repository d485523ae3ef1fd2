"""Cases of prod: zeros (one in a row, several), signs, one axis and all; short rows, since products leave the range."""

from opproof.cases._rows.laid import laid_dim
from opproof.cases._rows.long import lengths
from opproof.cases._rows.reductions import ALIGNED_PRODUCTS
from opproof.cases._rows.shapes import wide_dim
from opproof.cases._rows.typed import typed

SMOKE = [
    "x=7x9;dim=-1",
]
STANDARD = [
    "x=25x7;dim=-1;fill=special-rows",
    "x=7x25;dim=0;fill=special-columns",
    "x=5x3;dim=0",
    "x=5x31;dim=0",
    "x=3x32;dim=-1;layout=offset;f32,bf16",
    "x=2x3x9;dim=1;layout=transposed",
    "x=2x3x4x7;dim=1;layout=permuted",
    "x=2x3x4x7;dim=-2;keepdim=true",
    "x=9x4;dim=-1;layout=sliced",
    "x=9x4;dim=-1;layout=offset",
    "x=8x4;dim=1;layout=gapped",
    "x=5x4x9;dim=1;layout=broadcast",
    "x=2x5;dim=None",
    "x=2x3;dim=None;layout=transposed",
    "x=33x2;dim=-1;fill=zeros",
    "x=2x33;dim=0;fill=zeros;layout=transposed",
    "x=6x3;dim=-1;fill=negative",
    "x=9x4;dim=-1;fill=positive",
    "x=33x3;dim=-1;fill=extreme",
    "x=4x3;dim=0;fill=wide",
    "x=5x3;dim=-1;fill=offset",
    "x=5x4;dim=-1;fill=exact",
    "x=33x3;dim=-1;fill=ties",
    "x=3x65;dim=0;fill=signs",
    "x=17x3;dim=-1;fill=signs;layout=transposed",
    "x=4x1;dim=-1",
    "x=0x3;dim=-1",
    "x=3x0;dim=-1",
    "x=2x65;dim=-1;f32,bf16",
    "x=17x65;dim=-1;fill=close",
    "x=11x97;dim=0",
    "x=1031x2;dim=-1",
    "x=65x3;dim=-1;fill=special",
    "x=2x3;dim=None;keepdim=true",
    "x=2x3x2x5x3x4;dim=3;f32;layout=permuted",
    "x=6x6x6;dim=1;layout=transposed",
]
TYPED = typed("signed unsigned", "x=33x2;dim=-1", *SMOKE, *STANDARD)
LAID = laid_dim()
ALIGNED = ALIGNED_PRODUCTS
LONG, LONGEST = lengths("x=2x{n};dim=0", "x={n}x2;dim=-1")
SHAPES = [
    *wide_dim(long=False),
]
FULL = [
    "x=65537x3;dim=-1",
    "x=2x129;dim=-1;f32",
]
PAIRED = ["x=65537x1;dim=-1;f32"]
WITHOUT = {
    "65537 by dim": "of so many numbers the product is 0 or infinite",
    "middle long": "of so many numbers the product is 0 or infinite",
}
