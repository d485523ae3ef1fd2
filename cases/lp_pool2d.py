"""Cases of lp_pool2d: norms of every kind, ceil_mode, unlike axes everywhere, windows of zeros.

Each p is a power of two, so that 1 / p is exact.
"""

from opproof.cases._rows.pools import ALIGNED_2D, LAID_2D, LONG_2D, LONGEST_2D, ONE_SIDED_2D
from opproof.cases._rows.windows import pool_attributes

SMOKE = [
    "x=2x3x7x9;kernel_size=3;stride=2;padding=1",
]
STANDARD = [
    "x=2x3x7x9;kernel_size=3;stride=2;p=1.0",
    "x=2x3x7x9;kernel_size=3;stride=2;p=4.0;padding=1",
    "x=2x3x7x9;kernel_size=(2,3);stride=1;p=4.0;fill=positive",
    "x=2x3x7x9;kernel_size=2;p=4.0;fill=negative",
    "x=2x3x6x6;kernel_size=2;p=1.0;fill=signs",
    "x=2x3x6x6;kernel_size=2;p=4.0;fill=special",
    "x=2x3x9x11;kernel_size=(1,3);fill=special-rows",
    "x=2x3x9x11;kernel_size=3;stride=2;padding=1;fill=special-rows",
    "x=1x1x1x1;kernel_size=1",
    "x=2x3x4x6;kernel_size=2",
    "x=2x3x9x6;kernel_size=(3,2);stride=(2,1);padding=(1,0);layout=transposed",
    "x=2x3x6x9;kernel_size=(2,3);stride=(1,2);padding=(0,1);layout=permuted",
    "x=2x3x8x11;kernel_size=3;stride=(2,3);ceil_mode=true;layout=offset",
    "x=2x3x7x10;kernel_size=(2,4);stride=3;padding=(1,2);ceil_mode=true;layout=sliced",
    "x=2x3x7x10;kernel_size=(2,4);stride=3;padding=(1,2);ceil_mode=true",
    "x=2x3x5x6;kernel_size=3;stride=2;padding=1;layout=transposed",
    "x=2x2x8x11;kernel_size=(2,3);stride=(3,4);layout=gapped",
    "x=3x5x5x4;kernel_size=3;stride=1;padding=1;layout=broadcast",
    "x=2x3x5x4;kernel_size=(5,4)",
    "x=2x3x5x6;kernel_size=3;padding=1;fill=negative",
    "x=2x3x5x6;kernel_size=3;stride=1;fill=extreme",
    "x=2x3x6x5;kernel_size=2;stride=1;fill=zeros",
    "x=2x3x6x7;kernel_size=3;stride=2;padding=1;fill=offset",
    "x=2x3x6x7;kernel_size=3;stride=2;fill=wide;padding=1",
    "x=2x3x5x6;kernel_size=(1,2);stride=1;fill=special",
    "x=0x3x5x5;kernel_size=3",
    "x=2x33x5x4;kernel_size=2",
    "x=1x2x17x33;kernel_size=(9,17);stride=(4,8);padding=(4,8)",
    "x=1x3x9x131;kernel_size=(2,3);stride=(1,2)",
    "x=2x65x4x3;kernel_size=2;stride=1",
    "x=1x2x4099x2;kernel_size=(1031,1);f16,bf16",
    *ONE_SIDED_2D,
    "x=2x3x7x9;kernel_size=3;stride=2;padding=(1,0,0,1)",
    "x=1x3x7x10;kernel_size=(2,4);stride=3;padding=(0,2,1,1);ceil_mode=true",
]
LAID, ALIGNED = LAID_2D, ALIGNED_2D
LONG, LONGEST = LONG_2D, LONGEST_2D
ATTRIBUTES = pool_attributes(2, modes=("", "ceil_mode=true", "p=1.0", "p=4.0"))
SHAPES = [
    "x=2x3x9x11;kernel_size=5;stride=1;fill=spread;f32",
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
PAIRED = [
    "x=2x3x7x10;kernel_size=(2,4);stride=3;padding=(1,2);p=4.0;ceil_mode=true",
]
WITHOUT = {"heavy": "a norm is no mean, and leaves f16 where its sum does"}
