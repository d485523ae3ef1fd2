"""Cases of im2col: unlike axes in every parameter, overlapping and separate windows, cells that none covers."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.windows import column_attributes

SMOKE = ["x=2x3x5x7;kernel_size=(3,2);padding=1"]
STANDARD = [
    "x=1x1x1x1;kernel_size=1",
    "x=2x3x9x6;kernel_size=(3,2);stride=(2,1);padding=(1,0);layout=transposed",
    "x=2x3x6x9;kernel_size=(2,3);stride=(1,2);padding=(0,1);dilation=(2,1);layout=permuted",
    "x=2x1x11x8;kernel_size=3;stride=(2,3);dilation=(3,2);padding=(2,3);fill=wide",
    "x=2x2x8x11;kernel_size=(2,3);stride=(3,4);layout=sliced",
    "x=3x2x7x5;kernel_size=1;stride=(3,2);padding=1;layout=gapped",
    "x=2x3x5x4;kernel_size=(5,4);layout=offset",
    "x=2x3x4x5;kernel_size=(4,6);padding=(3,2);stride=(2,1)",
    "x=3x2x7x7;kernel_size=3;stride=2;layout=broadcast",
    "x=2x3x4x6;kernel_size=2;stride=2",
    "x=1x2x5x5;kernel_size=3;padding=2;dilation=2",
    "x=2x3x6x5;kernel_size=(1,3);padding=(0,1);fill=exact",
    "x=2x3x5x6;kernel_size=(3,1);padding=(1,0);fill=signs;layout=transposed",
    "x=2x3x6x7;kernel_size=3;fill=zeros;dilation=(1,2)",
    "x=2x3x6x7;kernel_size=3;fill=special;padding=1",
    "x=2x3x6x7;kernel_size=(2,3);fill=extreme",
    "x=1x33x5x9;kernel_size=3;padding=1",
    "x=2x2x17x65;kernel_size=(3,5);stride=(2,3);padding=(1,2)",
    "x=0x3x4x5;kernel_size=2",
    "x=1x2x5x99;kernel_size=(2,3);padding=(0,1)",
]
LAID = ["x=2x3x5x4;kernel_size=2;layout=cropped", "x=1x1x1x1;kernel_size=1;layout=offset"]
ALIGNED = aligned(
    "x=1x16x16x16;kernel_size=2",
    "x=2x16x16x16;kernel_size=3;padding=1",
    "x=1x4x16x16;kernel_size=2;stride=2",
    "x=2x3x16x16;kernel_size=3;padding=1",
    "x=2x2x16x32;kernel_size=(2,4)",
    "x=1x3x32x16;kernel_size=1;stride=2",
    "x=1x2x16x64;kernel_size=2",
)
LONG, LONGEST = lengths(
    "x={n}x1x2x3;kernel_size=2", "x=1x{n}x3x2;kernel_size=2", "x=1x1x{n}x2;kernel_size=2", "x=1x1x2x{n};kernel_size=2"
)
LONG += lengths("x=1x2x2x{n};kernel_size=(1,{n})", upto=1025)[0]
ATTRIBUTES = column_attributes("x")
FULL = ["x=1x3x129x257;kernel_size=3;padding=1", "x=65537x1x2x2;kernel_size=2"]
SHAPES = [
    "x=2x3x9x6;kernel_size=3;padding=1;fill=spread;f32",
    # one size with what is added at the ends, less of it first
    "x=2x2x6x8;kernel_size=4;padding=1;f32",
    "x=2x2x4x6;kernel_size=4;padding=2;f32",
]
