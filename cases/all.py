"""Cases of all: rows with and without zeros, one axis, several, all; a NaN and a -0."""

from opproof.cases._rows.long import long_dim
from opproof.cases._rows.reasons import TILES, TRUTH_OF_ROWS
from opproof.cases._rows.typed import typed

SMOKE = [
    "x=33x2;dim=-1;fill=zeros",
]
STANDARD = [
    "x=2x65;dim=0;fill=zeros",
    "x=3x31;dim=0;fill=zeros;layout=transposed",
    "x=33x3;dim=-1;fill=signs;keepdim=true;layout=offset",
    "x=2x2x65;dim=1;fill=signs;layout=transposed",
    "x=2x3x2x7;dim=2;fill=zeros;layout=permuted",
    "x=2x19x2x7;dim=(0,2);fill=zeros",
    "x=9x2x17x2;dim=(-1,1);fill=signs;keepdim=true;layout=sliced",
    "x=32x3;dim=-1;fill=signs;layout=sliced",
    "x=64x2;dim=1;fill=zeros;layout=gapped",
    "x=5x2x65;dim=1;fill=zeros;layout=broadcast",
    "x=6x11;dim=None",
    "x=99x2;dim=-1;fill=ties",
    "x=99x2;dim=-1;fill=special",
    "x=128x2;dim=-1;fill=zeros",
    "x=19x1;dim=-1;fill=zeros",
    "x=0x3;dim=-1",
    "x=3x0;dim=-1",
    "x=3x0;dim=None",
    "x=2x1031;dim=0;fill=zeros",
    "x=99x2;dim=-1;fill=tiny",
    "x=2x1131;dim=0;fill=zeros",
    "x=13x1031;dim=-1;fill=lone",
    "x=13x1031;dim=-1;fill=lone;layout=transposed",
    "x=6x11;dim=None;keepdim=true",
    "x=2x3x2x5x3x4;dim=3;fill=zeros;f32;layout=permuted",
]
TYPED = typed("signed unsigned", *SMOKE, *STANDARD, ends=False)
LAID = ["x=3x5x2;dim=-1;fill=zeros;layout=cropped", "x=2x3x2x5;dim=2;fill=zeros;layout=cropped"]
LONG, LONGEST = long_dim("fill=zeros", past=("x={n}x1;dim=-1",))
SHAPES = [
    "x=1031x67;dim=-1;fill=lone;f32",
    "x=3x2x5;dim=-2;fill=zeros;f32",
    "x=3x2x5;dim=1;keepdim=true;fill=zeros",
]
FULL = [
    "x=2x12289;dim=0;fill=zeros",
    "x=65537x2;dim=-1;fill=zeros",
]
WITHOUT = {"65537 by dim": "of so many numbers some are zero, and some are not", **TRUTH_OF_ROWS, **TILES}
