"""Cases of col2im: unlike axes in every parameter, overlapping and separate windows, cells that none covers."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.windows import column_attributes

SMOKE = [
    "x=2x18x18;output_size=(5,7);kernel_size=(3,2);stride=(2,1);padding=(1,0)",
]
STANDARD = [
    "x=1x1x1;output_size=1;kernel_size=1",
    "x=2x18x25;output_size=(9,6);kernel_size=(3,2);stride=(2,1);padding=(1,0);layout=transposed",
    "x=2x18x20;output_size=(6,9);kernel_size=(2,3);stride=(1,2);padding=(0,1);dilation=(2,1);layout=permuted",
    "x=2x9x20;output_size=(11,8);kernel_size=3;stride=(2,3);dilation=(3,2);padding=(2,3);fill=wide",
    "x=2x12x9;output_size=(8,11);kernel_size=(2,3);stride=(3,4);layout=sliced",
    "x=3x2x12;output_size=(7,5);kernel_size=1;stride=(3,2);padding=1;layout=gapped",
    "x=2x60x1;output_size=(5,4);kernel_size=(5,4);layout=offset",
    "x=3x18x9;output_size=7;kernel_size=3;stride=2;layout=broadcast",
    "x=2x12x6;output_size=(4,6);kernel_size=2;stride=2",
    "x=1x18x25;output_size=5;kernel_size=3;padding=2;dilation=2",
    "x=2x9x30;output_size=(6,5);kernel_size=(1,3);padding=(0,1);fill=exact",
    "x=2x9x30;output_size=(5,6);kernel_size=(3,1);padding=(1,0);fill=signs;layout=transposed",
    "x=2x27x12;output_size=(6,7);kernel_size=3;fill=zeros;dilation=(1,2)",
    "x=2x27x20;output_size=(6,7);kernel_size=3;fill=special",
    "x=2x18x25;output_size=(6,7);kernel_size=(2,3);fill=extreme",
    "x=0x4x4;output_size=3;kernel_size=2",
    "x=1x297x45;output_size=(5,9);kernel_size=3;padding=1",
    "x=1x8x130;output_size=(3,66);kernel_size=2",
    "x=1x4x64;output_size=(3,33);kernel_size=2",
    "x=2x4x294;output_size=(4,99);kernel_size=2;layout=transposed",
]
LAID = [
    "x=2x12x6;output_size=(4,6);kernel_size=2;stride=2;layout=cropped",
    "x=1x1x1;output_size=1;kernel_size=1;layout=offset",
]
ALIGNED = aligned(
    "x=2x16x16;output_size=5;kernel_size=2",
    "x=2x16x64;output_size=(16,16);kernel_size=2;stride=2",
    "x=2x144x256;output_size=16;kernel_size=3;padding=1",
    "x=3x64x16;output_size=5;kernel_size=2",
    "x=3x16x16;output_size=4;kernel_size=1",
    "x=2x48x128;output_size=(4,32);kernel_size=(1,3);padding=(0,1)",
    "x=3x16x32;output_size=(4,8);kernel_size=1",
)
LONG, LONGEST = lengths(
    "x={n}x4x2;output_size=(2,3);kernel_size=2",
    "x=1x{n}x2;output_size=(1,2);kernel_size=1",
    "x=1x2x{n};output_size=(2,{n});kernel_size=(2,1)",
)
ATTRIBUTES = column_attributes("columns")
FULL = [
    "x=1x27x33153;output_size=(129,257);kernel_size=3;padding=1",
    "x=65537x4x1;output_size=2;kernel_size=2",
]
SHAPES = [
    "x=2x18x18;output_size=(5,7);kernel_size=(3,2);stride=(2,1);padding=(1,0);fill=spread;f32",
]
