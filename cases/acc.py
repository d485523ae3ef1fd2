"""Cases of acc: views that are rows, columns, blocks and steps of a, at the start and at an offset."""

from opproof.cases._rows.long import lengths

SMOKE = ["a=7x33;b=3x5;stride=(33,1);offset=35"]
STANDARD = [
    "a=7x33;b=3x5;stride=(33,1);offset=35;inplace=a",
    "a=5x3x17;b=2x9;stride=(51,1);offset=20;layout=a:gapped;inplace=a",
    "a=9,;b=4x1;stride=(2,1);offset=1",
    "a=5x31;b=5x31;stride=(31,1);fill=wide",
    "a=5x31;b=1x31;stride=(31,1);offset=124;layout=a:transposed",
    "a=5x32;b=5x1;stride=(32,1);offset=31;layout=b:transposed",
    "a=2x3x65;b=2x3x9;stride=(195,65,1);offset=7;layout=a:permuted",
    "a=2x3x4x7;b=2x1x2x3;stride=(84,28,7,1);offset=38;layout=permuted",
    "a=6x8;b=8x6;stride=(1,8);layout=b:sliced",
    "a=4x127;b=2x63;stride=(254,2);offset=1;fill=extreme",
    "a=4x128;b=3x31;stride=(128,1);offset=97;layout=gapped",
    "a=5x63;b=2x9;stride=(63,7);offset=63;layout=a:broadcast",
    "a=2x257;b=2x255;stride=(257,1);offset=1;fill=zeros",
    "a=6x11;b=2x3;stride=(22,4);offset=2;fill=small",
    "a=6x13;b=3x5;stride=(13,1);offset=14;needs=b",
    "a=6x13;b=3x5;stride=(13,1);offset=14;needs=a",
    "a=5x9;b=2x3;stride=(18,3);offset=10;fill=exact",
    "a=9x17;b=4x5;stride=(34,2);offset=18;fill=signs;layout=offset",
    "a=66,;b=3x7;stride=(20,2);offset=3;fill=special",
    "a=3x33;b=0x5;stride=(33,1)",
    "a=5x1031;b=3x1025;stride=(1031,1);offset=1036",
    "a=7x33;b=3x5;stride=(33,1);offset=35;layout=a:sliced,b:broadcast",
    "a=7x33;b=3x5;stride=(33,1);offset=35;layout=b:transposed",
    "a=4x9;b=@a;stride=(9,1)",
]
LAID = [
    "a=2x3x9;b=2x2x5;stride=(27,9,1);offset=3;layout=cropped",
    "a=5,;b=1,;stride=(1);offset=2;layout=b:offset",
    "a=1,;b=1,;stride=(1);offset=0;layout=offset",
]
LONG, LONGEST = lengths(
    "a=2x{n};b=1x3;stride=({n},1);offset=5",
    "a={n}x2;b={n}x1;stride=(2,1);offset=1",
    "a={n}x3;b=1x2;stride=(3,1);offset=4",
    "a=1x{n};b=1x{n};stride=({n},1)",
)
FULL = ["a=2x12289;b=1x12280;stride=(12289,1);offset=12295", "a=65537x3;b=65537x1;stride=(3,1);offset=1"]
