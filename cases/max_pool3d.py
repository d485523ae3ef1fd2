"""Cases of max_pool3d: ties, ceil_mode, padding that never wins, dilation, unlike axes everywhere."""

from opproof.cases._rows.pools import ALIGNED_3D, LAID_3D, LONG_3D, LONGEST_3D, ONE_SIDED_3D
from opproof.cases._rows.windows import pool_attributes

SMOKE = ["x=2x3x4x7x9;kernel_size=3;stride=2;padding=1"]
STANDARD = [
    "x=1x1x1x1x1;kernel_size=1",
    "x=2x3x4x6x5;kernel_size=2",
    "x=2x3x5x9x6;kernel_size=(2,3,2);stride=(1,2,1);padding=(0,1,0);layout=transposed",
    "x=2x3x4x6x9;kernel_size=(1,2,3);stride=(2,1,2);padding=(0,0,1);layout=permuted",
    "x=1x3x5x8x11;kernel_size=3;stride=(1,2,3);ceil_mode=true;layout=offset",
    "x=1x3x4x7x10;kernel_size=(2,2,4);stride=3;padding=(1,1,2);ceil_mode=true;layout=sliced",
    "x=1x3x4x7x10;kernel_size=(2,4,2);stride=3;padding=(1,2,1);ceil_mode=true;dilation=(1,1,2)",
    "x=1x2x5x8x11;kernel_size=(2,2,3);stride=(2,3,4);layout=gapped",
    "x=2x5x3x5x4;kernel_size=3;stride=1;padding=1;layout=broadcast",
    "x=2x3x3x5x4;kernel_size=(3,5,4)",
    "x=2x3x3x5x6;kernel_size=3;padding=1;fill=negative",
    "x=2x3x3x5x6;kernel_size=3;padding=1;fill=farther",
    "x=2x3x3x5x6;kernel_size=(2,3,3);stride=1;fill=extreme",
    "x=2x3x3x6x5;kernel_size=2;stride=1;fill=zeros",
    "x=2x2x3x6x7;kernel_size=(2,3,3);stride=2;fill=offset",
    "x=2x3x3x5x6;kernel_size=(1,1,2);stride=1;fill=special",
    "x=1x3x4x9x11;kernel_size=(1,1,3);fill=special-rows",
    "x=1x3x7x5x5;kernel_size=(3,2,2);stride=2;padding=(1,1,0)",
    "x=1x3x7x5x5;kernel_size=(3,2,2);stride=2;dilation=(2,1,1)",
    "x=0x3x3x5x5;kernel_size=3",
    "x=1x33x2x5x4;kernel_size=2",
    "x=1x65x2x4x3;kernel_size=(1,2,2);stride=1",
    "x=1x2x2x9x131;kernel_size=(1,2,3);stride=(1,1,2)",
    "x=2x3x3x6x7;kernel_size=2;stride=1;fill=ties",
    "x=2x3x3x6x7;kernel_size=2;stride=1;fill=kink",
    "x=1x3x5x7x6;kernel_size=(2,3,2);stride=(1,2,1);dilation=(2,1,3)",
    *ONE_SIDED_3D,
    "x=1x2x4x6x5;kernel_size=2;stride=2;dilation=(2,1,1);padding=(0,1,0,1,0,1)",
]
LAID, ALIGNED = LAID_3D, ALIGNED_3D
LONG, LONGEST = LONG_3D, LONGEST_3D
ATTRIBUTES = pool_attributes(3, dilation=True)
SHAPES = [
    "x=2x2x2x3x4;kernel_size=(3,4,5);padding=1",
    "x=1x2x9x10x9;kernel_size=(9,3,9);padding=(3,1,2)",
]
FULL = ["x=1x2x3x129x257;kernel_size=3;stride=2"]
