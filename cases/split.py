"""Cases of split: two to four unequal parts, each axis, a part of one cell, an empty part."""

from opproof.cases._rows.long import lengths
from opproof.cases._rows.typed import typed

SMOKE = [
    "x=7x33;sizes=(20,13);dim=1",
]
STANDARD = [
    "x=9,;sizes=(4,5)",
    "x=5x31;sizes=(2,3);dim=0;layout=transposed",
    "x=5x31;sizes=(1,30);dim=1",
    "x=3x32;sizes=(8,16,8);dim=-1;layout=offset",
    "x=2x3x65;sizes=(1,2);dim=1;layout=transposed",
    "x=2x3x4x7;sizes=(2,1,4);dim=3;layout=permuted",
    "x=6x3x4x5;sizes=(1,2,2,1);dim=-4;layout=transposed",
    "x=3x33;sizes=(17,16);dim=1;layout=sliced",
    "x=4x128;sizes=(63,65);dim=1;layout=gapped",
    "x=5x63;sizes=(2,3);dim=0;layout=broadcast",
    "x=5x63;sizes=(32,31);dim=1;layout=broadcast",
    "x=4x9;sizes=(5,0,4);dim=1",
    "x=3x22;sizes=(11,11);dim=1;fill=special",
    "x=3x97;sizes=(1,96);dim=1;fill=extreme",
    "x=3x0;sizes=(1,2);dim=0",
    "x=4x8;sizes=(3,5);dim=1;fill=exact",
    "x=130x6;sizes=(1,128,1);dim=0",
    "x=2x1031;sizes=(1030,1);dim=1",
]
TYPED = typed("float8 signed unsigned", *SMOKE, *STANDARD)
LAID = ["x=2x5x4;sizes=(2,3);dim=1;layout=cropped"]
LONG, LONGEST = lengths("x={n}x2;sizes=(1,1);dim=1", "x=2x{n};sizes=(1,1);dim=0")
SHAPES = [
    "x=3x17;sizes=(2,1,4,3,7);dim=1",
    "x=34x3;sizes=(1,2,3,1,2,3,1,2,3,1,2,3,1,2,3,1,3);dim=0",
]
FULL = [
    "x=2x12289;sizes=(1,12288);dim=1",
    "x=65537x3;sizes=(65536,1);dim=0",
]
