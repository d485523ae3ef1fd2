"""Cases of im2col_back: kernels and images wider than high and the reverse, windows that do not fit, cells left out."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.windows import column_attributes

SMOKE = ["grad=2x3x5x18;size=(5,6);kernel_size=(3,2)"]
STANDARD = [
    "grad=1x1x1x1;size=(1,1);kernel_size=1",
    "grad=2x4x4x27;size=(4,4);kernel_size=3;padding=1;fill=wide",
    "grad=1x5x4x18;size=(7,5);kernel_size=(3,2);layout=transposed",
    "grad=2x4x6x12;size=(5,8);kernel_size=(2,3);layout=permuted",
    "grad=2x3x4x12;size=(7,9);kernel_size=(2,3);stride=2;layout=sliced",
    "grad=1x2x3x8;size=(6,8);kernel_size=2;stride=3;layout=gapped",
    "grad=2x3x2x18;size=(7,6);kernel_size=3;dilation=2;layout=offset",
    "grad=2x2x4x12;size=(7,9);kernel_size=(3,2);stride=2;dilation=(2,3);padding=(0,1)",
    "grad=3x4x6x8;size=(5,4);kernel_size=(2,1);padding=(0,1);layout=broadcast",
    "grad=1x6x3x10;size=(4,9);kernel_size=(1,5);padding=(1,0);stride=(1,2)",
    "grad=2x2x2x9;size=(9,8);kernel_size=3;stride=4",
    "grad=1x3x3x65;size=(3,7);kernel_size=(1,5)",
    "grad=2x3x4x12;size=(4,5);kernel_size=2;fill=exact",
    "grad=2x3x6x12;size=(5,5);kernel_size=2;padding=1;stride=(2,1);fill=signs;layout=transposed",
    "grad=2x3x4x12;size=(4,5);kernel_size=2;fill=extreme",
    "grad=2x3x4x12;size=(4,5);kernel_size=2;fill=zeros",
    "grad=0x3x4x12;size=(4,5);kernel_size=2",
    "grad=1x1x33x6;size=(1,35);kernel_size=(1,3)",
    "grad=1x1x1027x5;size=(1,1031);kernel_size=(1,5)",
    "grad=1x3x97x6;size=(4,99);kernel_size=(2,3)",
    "grad=2x3x4x12;size=(4,5);kernel_size=2;fill=special",
]
LAID = [
    "grad=2x3x5x18;size=(5,6);kernel_size=(3,2);layout=cropped",
    "grad=1x1x1x1;size=(1,1);kernel_size=1;layout=offset",
]
ALIGNED = aligned(
    "grad=1x16x16x16;size=(17,17);kernel_size=2",
    "grad=1x8x16x16;size=(16,32);kernel_size=2;stride=2",
    "grad=2x16x16x144;size=(16,16);kernel_size=3;padding=1",
    "grad=1x4x16x64;size=(5,17);kernel_size=2",
    "grad=2x4x16x16;size=(4,16);kernel_size=1",
    "grad=1x4x32x48;size=(4,32);kernel_size=(1,3);padding=(0,1)",
    "grad=2x3x16x16;size=(3,16);kernel_size=1",
)
LONG, LONGEST = lengths(
    "grad={n}x1x1x4;size=(2,2);kernel_size=2",
    "grad=1x{n}x1x2;size=({n},2);kernel_size=(1,2)",
    "grad=1x1x2x{n};size=(1,2);kernel_size=1",
    "grad=1x1x{n}x2;size=(2,{n});kernel_size=(2,1)",
)
ATTRIBUTES = column_attributes("grad")
FULL = ["grad=1x1x12287x6;size=(1,12289);kernel_size=(1,3)", "grad=1x256x256x4;size=(257,257);kernel_size=2"]
