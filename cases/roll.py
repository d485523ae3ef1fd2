"""Cases of roll: forwards, backwards, further than the axis is long, several axes at once."""

from opproof.cases._rows.long import lengths
from opproof.cases._rows.typed import typed

SMOKE = [
    "x=7x33;shifts=2;dims=1",
]
STANDARD = [
    "x=9,;shifts=4;dims=0",
    "x=5x31;shifts=-3;dims=0;layout=transposed",
    "x=5x31;shifts=40;dims=1",
    "x=3x32;shifts=-70;dims=-1;layout=offset",
    "x=2x3x65;shifts=(1,9);dims=(1,2);layout=transposed",
    "x=2x3x4x7;shifts=(1,-2,3);dims=(0,2,3);layout=permuted",
    "x=3x3x4x5;shifts=(2,1);dims=(-3,-4);layout=sliced",
    "x=3x33;shifts=16;dims=1;layout=sliced",
    "x=4x128;shifts=(1,64);dims=(0,1);layout=gapped",
    "x=5x63;shifts=1;dims=1;layout=broadcast",
    "x=4x9;shifts=(1,2);dims=(1,1)",
    "x=3x22;shifts=5;dims=1;fill=special",
    "x=3x97;shifts=96;dims=1;fill=extreme",
    "x=3x0;shifts=1;dims=1",
    "x=1x9;shifts=2;dims=1",
    "x=4x7;shifts=3;dims=1;fill=exact",
    "x=65x3;shifts=-64;dims=0",
    "x=2x1031;shifts=1;dims=1",
    "x=2x3x5;shifts=(1,-2,3);dims=(1,2,0)",
]
TYPED = typed("float8 signed unsigned", *SMOKE, *STANDARD)
LAID = ["x=2x3x4;shifts=1;dims=1;layout=cropped"]
LONG, LONGEST = lengths(
    "x={n}x2;shifts=3;dims=0", "x=2x{n};shifts=1;dims=0", "x={n}x2;shifts=1;dims=1", "x=2x{n};shifts=-1000;dims=1"
)
SHAPES = [
    "x=4x4x4;shifts=1;dims=1",
]
FULL = [
    "x=2x12289;shifts=5;dims=1",
    "x=65537x3;shifts=-2;dims=0",
]
