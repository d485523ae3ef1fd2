"""Cases of max_pool2d: unlike axes in every parameter, ceil_mode, dilation, padding under all-negative data, ties."""

from opproof.cases._rows.pools import ALIGNED_2D, LAID_2D, LONG_2D, LONGEST_2D, ONE_SIDED_2D
from opproof.cases._rows.windows import pool_attributes

SMOKE = [
    "x=2x3x7x9;kernel_size=3;stride=2;padding=1",
]
STANDARD = [
    "x=2x3x7x9;kernel_size=2;fill=edges",
    "x=2x3x9x11;kernel_size=(1,3);fill=special-rows",
    "x=2x3x9x11;kernel_size=3;stride=2;padding=1;fill=special-rows",
    "x=1x1x1x1;kernel_size=1",
    "x=2x3x4x6;kernel_size=2",
    "x=1x3x5x7;kernel_size=1",
    "x=2x3x9x6;kernel_size=(3,2);stride=(2,1);padding=(1,0);layout=transposed",
    "x=2x3x6x9;kernel_size=(2,3);stride=(1,2);padding=(0,1);dilation=(2,1);layout=permuted",
    "x=2x3x8x11;kernel_size=3;stride=(2,3);ceil_mode=true;layout=offset",
    "x=2x3x7x10;kernel_size=(2,4);stride=3;padding=(1,2);ceil_mode=true;layout=sliced",
    "x=2x2x11x8;kernel_size=3;stride=2;dilation=(3,2);padding=1;layout=gapped",
    "x=2x2x8x11;kernel_size=(2,3);stride=(3,4)",
    "x=3x5x5x4;kernel_size=3;stride=1;padding=1;layout=broadcast",
    "x=2x3x5x4;kernel_size=(5,4)",
    "x=2x3x5x6;kernel_size=3;padding=1;fill=negative",
    "x=3x3x5x6;kernel_size=3;padding=1;fill=farther",
    "x=2x3x5x6;kernel_size=3;padding=1;stride=2;ceil_mode=true;fill=negative;layout=transposed",
    "x=2x3x5x6;kernel_size=2;fill=positive",
    "x=2x3x5x6;kernel_size=3;stride=1;fill=extreme",
    "x=2x3x6x7;kernel_size=3;stride=2;fill=ties",
    "x=2x3x6x5;kernel_size=2;stride=1;fill=zeros",
    "x=5x3x4x6;kernel_size=2;fill=constant",
    "x=2x3x6x7;kernel_size=3;stride=2;fill=offset",
    "x=0x3x5x5;kernel_size=3",
    "x=2x33x5x4;kernel_size=2",
    "x=1x2x17x33;kernel_size=(5,3);stride=2;padding=(2,1)",
    "x=1x3x9x131;kernel_size=(2,3);stride=(1,2)",
    "x=2x3x23x25;kernel_size=3;stride=1;f16,bf16",
    "x=2x65x4x3;kernel_size=2;stride=1",
    *ONE_SIDED_2D,
    "x=2x3x8x9;kernel_size=(2,3);stride=2;dilation=(2,1);padding=(0,1,1,0)",
]
LAID, ALIGNED = LAID_2D, ALIGNED_2D
LONG, LONGEST = LONG_2D, LONGEST_2D
ATTRIBUTES = pool_attributes(2, dilation=True, modes=("", "ceil_mode=true"))
SHAPES = [
    "x=2x3x3x4;kernel_size=(4,5);padding=(1,1)",
    "x=2x2x13x14;kernel_size=(9,11);stride=(2,3);padding=(3,4)",
    # one size with what is added at the ends, less of it first
    "x=2x2x6x8;kernel_size=4;padding=1;f32",
    "x=2x2x4x6;kernel_size=4;padding=2;f32",
]
FULL = [
    "x=1x2x129x257;kernel_size=3;stride=2",
    "x=65537x1x2x4;kernel_size=2",
]
