"""Cases of im2col_3d: unlike axes in every parameter, overlapping and separate windows, cells that none covers."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.windows import column_attributes

SMOKE = [
    "x=2x2x3x4x5;kernel_size=(2,3,2);padding=1",
]
STANDARD = [
    "x=1x1x1x1x1;kernel_size=1",
    "x=1x2x5x4x6;kernel_size=(3,2,1);stride=(2,1,3);padding=(1,0,2);layout=transposed",
    "x=1x2x6x5x4;kernel_size=(2,3,2);stride=(1,2,1);padding=(0,1,1);dilation=(2,1,3);layout=permuted",
    "x=1x2x7x6x5;kernel_size=2;stride=(3,2,1);dilation=(2,3,1);fill=wide",
    "x=1x2x5x6x7;kernel_size=(2,1,2);stride=(3,4,3);layout=sliced",
    "x=3x2x3x4x3;kernel_size=1;stride=2;padding=1;layout=gapped",
    "x=2x2x3x4x5;kernel_size=(3,4,5);layout=offset",
    "x=2x1x3x4x3;kernel_size=2;layout=broadcast",
    "x=1x2x4x4x6;kernel_size=2;stride=2",
    "x=1x2x3x4x3;kernel_size=(2,1,2);fill=exact",
    "x=1x2x3x4x3;kernel_size=2;padding=1;fill=signs;layout=transposed",
    "x=1x2x4x4x3;kernel_size=2;fill=zeros;dilation=(1,2,1)",
    "x=1x2x3x4x3;kernel_size=2;fill=special;padding=1",
    "x=1x2x3x4x3;kernel_size=2;fill=extreme",
    "x=1x17x2x3x5;kernel_size=2;padding=(1,0,0)",
    "x=0x2x3x3x3;kernel_size=2",
    "x=1x2x3x3x33;kernel_size=2",
    "x=1x2x2x3x65;kernel_size=(1,2,3);padding=(0,1,0)",
    "x=2x3x4x5x3;kernel_size=2;layout=sliced",
    "x=1x1x5x7x35;kernel_size=(1,3,3)",
    "x=2x3x4x5x3;kernel_size=2;layout=permuted",
    "x=1x1x3x4x97;kernel_size=(1,2,3)",
]
LAID = ["x=2x2x3x4x5;kernel_size=2;layout=cropped", "x=1x1x1x1x1;kernel_size=1;layout=offset"]
ALIGNED = aligned(
    "x=1x4x4x16x16;kernel_size=2",
    "x=1x16x2x16x16;kernel_size=1;stride=2",
    "x=1x2x3x16x32;kernel_size=(2,1,2)",
    "x=1x2x4x16x16;kernel_size=2;stride=2",
    "x=2x2x2x16x16;kernel_size=2",
    "x=1x2x3x32x16;kernel_size=(1,2,2)",
    "x=2x2x3x16x16;kernel_size=2;padding=1",
)
LONG, LONGEST = lengths(
    "x={n}x1x1x2x2;kernel_size=(1,2,2)",
    "x=1x{n}x2x1x2;kernel_size=(2,1,2)",
    "x=1x1x{n}x2x1;kernel_size=(2,2,1)",
    "x=1x1x2x{n}x1;kernel_size=(2,2,1)",
    "x=1x1x1x2x{n};kernel_size=(1,2,2)",
)
LONG += lengths("x=1x1x1x2x{n};kernel_size=(1,1,{n})", upto=1025)[0]
ATTRIBUTES = column_attributes("x", 3)
FULL = [
    "x=1x2x33x17x9;kernel_size=3;padding=1",
    "x=65537x1x1x2x2;kernel_size=(1,2,2)",
]
