"""Cases of avg_pool1d: overlapping windows, ceil_mode, padding counted and not counted."""

from opproof.cases._rows.pools import ALIGNED_1D, LAID_1D, LONG_1D, LONGEST_1D, ONE_SIDED_1D
from opproof.cases._rows.windows import pool_attributes

SMOKE = [
    "x=2x3x9;kernel_size=3;stride=2;padding=1",
]
STANDARD = [
    "x=2x3x65;kernel_size=9;fill=heavy;f16",
    "x=5x5x9;kernel_size=3;fill=special-rows",
    "x=1x1x1;kernel_size=1",
    "x=2x3x8;kernel_size=2",
    "x=2x3x31;kernel_size=3;stride=2;ceil_mode=true;layout=transposed",
    "x=2x3x32;kernel_size=3;stride=3;ceil_mode=true;layout=offset",
    "x=2x3x33;kernel_size=4;stride=3;padding=2;count_include_pad=false;layout=permuted",
    "x=2x5x12;kernel_size=4;stride=3;padding=2;ceil_mode=true;layout=sliced",
    "x=2x5x13;kernel_size=2;stride=5;layout=gapped",
    "x=2x5x12;kernel_size=4;stride=3;padding=2;ceil_mode=true;count_include_pad=false",
    "x=3x5x9;kernel_size=3;stride=1;padding=1;layout=broadcast",
    "x=2x3x9;kernel_size=2;stride=3;padding=1;ceil_mode=true",
    "x=2x3x7;kernel_size=7",
    "x=2x3x11;kernel_size=3;padding=1;fill=negative",
    "x=2x3x11;kernel_size=3;padding=1;fill=wide;count_include_pad=false",
    "x=2x3x11;kernel_size=3;stride=2;fill=extreme",
    "x=2x3x17;kernel_size=4;stride=1;fill=zeros",
    "x=2x3x12;kernel_size=3;stride=2;fill=offset;padding=1",
    "x=2x3x12;kernel_size=3;stride=2;fill=small;f32,bf16",
    "x=2x3x9;kernel_size=2;stride=1;fill=special",
    "x=0x3x9;kernel_size=3",
    "x=2x65x9;kernel_size=3;stride=2",
    "x=1x2x257;kernel_size=65;stride=32;padding=20",
    "x=2x9x131;kernel_size=2;stride=2;padding=1",
    "x=1x2x4097;kernel_size=2;stride=3;f32",
    "x=1x2x2062;kernel_size=1031;f16,bf16",
    *ONE_SIDED_1D,
    "x=2x3x9;kernel_size=3;stride=2;padding=(1,0);count_include_pad=false",
    "x=2x5x12;kernel_size=4;stride=3;padding=(1,2);ceil_mode=true;count_include_pad=false",
]
LAID, ALIGNED = LAID_1D, ALIGNED_1D
LONG, LONGEST = LONG_1D, LONGEST_1D
ATTRIBUTES = pool_attributes(1, modes=("", "ceil_mode=true", "count_include_pad=false"))
SHAPES = [
    "x=2x3x4;kernel_size=5;padding=1",
    "x=2x3x31;kernel_size=11;stride=3;padding=4",
    # one size with what is added at the ends, less of it first
    "x=2x3x10;kernel_size=4;padding=1;f32",
    "x=2x3x8;kernel_size=4;padding=2;f32",
]
FULL = [
    "x=1x2x12289;kernel_size=3;stride=2",
    "x=65537x1x4;kernel_size=2",
]
