"""Cases of window_unpartition: those of window_partition, backwards."""

from opproof.cases._rows.long import Limit, lengths
from opproof.cases._rows.typed import typed

SMOKE = ["x=12x3x3x3;size=(5,7)"]
STANDARD = [
    "x=1x1x1x1;size=(1,1)",
    "x=9x3x3x2;size=(9,9);fill=wide",
    "x=4x4x4x9;size=(7,5)",
    "x=8x4x4x3;size=(5,8);layout=transposed",
    "x=36x2x2x4;size=(8,5);layout=permuted",
    "x=4x5x5x31;size=(6,4);layout=sliced",
    "x=6x2x2x65;size=(3,5);layout=gapped",
    "x=12x3x3x5;size=(4,7);layout=offset",
    "x=6x3x3x6;size=(5,7);layout=broadcast",
    "x=2x7x7x4;size=(2,3)",
    "x=40x1x1x3;size=(5,4);layout=permuted",
    "x=2x14x14x2;size=(14,15)",
    "x=12x2x2x3;size=(5,4);fill=exact",
    "x=8x3x3x3;size=(5,4);fill=extreme",
    "x=8x3x3x3;size=(5,4);fill=special",
    "x=0x3x3x3;size=(5,4)",
    "x=15x8x8x1;size=(33,17)",
    "x=2x2x2x1031;size=(3,2);f32",
    "x=4x3x3x97;size=(5,4)",
    "x=6x5x5x3;size=(9,12);layout=transposed",
]
TYPED = typed("float8 signed unsigned", *SMOKE, *STANDARD)
LAID = ["x=12x3x3x3;size=(5,7);layout=cropped", "x=1x1x1x1;size=(1,1);layout=offset"]
LONG, LONGEST = lengths("x=1x2x2x{n};size=(1,2)", "x={n}x1x1x2;size=(1,{n})")
SHORT = {"x.1": Limit(0, "windows are as high as wide"), "x.2": Limit(0, "windows are as high as wide")}
FULL = ["x=4x2x2x12289;size=(3,4)", "x=1369x7x7x1;size=(257,256)"]
WITHOUT = {"leading": "windows are as high as wide"}
