"""Cases of set: blocks at every corner and inside, whole rows, single cells, each input laid out in turn."""

from opproof.cases._rows.long import lengths
from opproof.cases._rows.typed import typed

SMOKE = [
    "a=7x33;b=3x5;offset=(2,9)",
]
STANDARD = [
    "a=7x33;b=3x5;offset=(2,9);inplace=a",
    "a=5x17;b=2x9;offset=(1,3);layout=a:gapped;inplace=a",
    "a=9,;b=4,;offset=(5)",
    "a=5x31;b=2x31;offset=(3,0);layout=a:transposed",
    "a=5x31;b=5x4;offset=(0,27);layout=b:transposed",
    "a=3x32;b=1x1;offset=(2,31);layout=offset",
    "a=2x3x65;b=1x2x9;offset=(1,1,33);layout=transposed",
    "a=2x3x4x7;b=1x3x2x5;offset=(1,0,2,1);layout=permuted",
    "a=4x33;b=2x17;offset=(1,16);layout=a:sliced",
    "a=4x33;b=2x16;offset=(0,1);layout=b:gapped",
    "a=5x63;b=2x9;offset=(3,50);layout=a:broadcast",
    "a=5x9;b=3x4;offset=(1,2);layout=b:broadcast",
    "a=4x9;b=2x3;offset=(1,5);needs=b",
    "a=4x9;b=2x3;offset=(1,5);needs=a",
    "a=4x9;b=0x3;offset=(1,5)",
    "a=3x22;b=2x11;offset=(0,5);fill=special",
    "a=3x97;b=2x3;offset=(0,94);fill=extreme",
    "a=4x5;b=2x3;offset=(2,1);fill=exact",
    "a=65x6;b=64x1;offset=(1,5)",
    "a=2x1031;b=1x1029;offset=(1,1)",
    "a=7x33;b=3x5;offset=(2,9);layout=a:gapped,b:sliced",
]
TYPED = typed("float8 signed unsigned", *SMOKE, *STANDARD)
LAID = [
    "a=2x3x9;b=2x2x5;offset=(0,1,3);layout=cropped",
    "a=5,;b=1,;offset=(2);layout=b:offset",
    "a=1,;b=1,;offset=(0);layout=offset",
]
LONG, LONGEST = lengths(
    "a=2x{n};b=1x3;offset=(1,7)",
    "a={n}x2;b=1000x1;offset=(5,1)",
    "a={n}x2;b={n}x1;offset=(0,1)",
    "a=2x{n};b=1x{n};offset=(1,0)",
)
FULL = [
    "a=2x12289;b=1x12288;offset=(1,1)",
    "a=65537x3;b=65536x1;offset=(1,2)",
]
WITHOUT = {"given twice": "a tensor written over itself is a copy"}
