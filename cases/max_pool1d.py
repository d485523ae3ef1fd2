"""Cases of max_pool1d: overlapping windows, ceil_mode, dilation, padding under all-negative data, ties."""

from opproof.cases._rows.pools import ALIGNED_1D, LAID_1D, LONG_1D, LONGEST_1D, ONE_SIDED_1D
from opproof.cases._rows.windows import pool_attributes

SMOKE = [
    "x=2x3x9;kernel_size=3;stride=2;padding=1",
]
STANDARD = [
    "x=2x3x17;kernel_size=3;fill=edges",
    "x=5x5x9;kernel_size=3;fill=special-rows",
    "x=5x5x9;kernel_size=2;stride=1;padding=1;fill=special-rows",
    "x=1x1x1;kernel_size=1",
    "x=2x3x8;kernel_size=2",
    "x=2x3x31;kernel_size=3;stride=2;ceil_mode=true;layout=transposed",
    "x=2x3x32;kernel_size=3;stride=3;ceil_mode=true;layout=offset",
    "x=2x3x33;kernel_size=4;stride=3;padding=2;layout=permuted",
    "x=2x5x13;kernel_size=3;stride=2;dilation=3;padding=1;layout=sliced",
    "x=2x5x13;kernel_size=2;stride=5;layout=gapped",
    "x=3x5x9;kernel_size=3;stride=1;padding=1;layout=broadcast",
    "x=2x3x9;kernel_size=2;stride=3;padding=1;ceil_mode=true",
    "x=2x3x7;kernel_size=7",
    "x=2x3x11;kernel_size=3;padding=1;fill=negative",
    "x=5x3x11;kernel_size=3;padding=1;fill=farther",
    "x=2x3x11;kernel_size=3;padding=1;stride=2;ceil_mode=true;fill=negative",
    "x=2x3x11;kernel_size=3;padding=1;fill=positive",
    "x=2x3x11;kernel_size=3;stride=2;fill=extreme",
    "x=2x3x17;kernel_size=3;stride=2;fill=ties",
    "x=2x3x17;kernel_size=4;stride=1;fill=zeros",
    "x=5x3x6;kernel_size=2;fill=constant",
    "x=2x3x12;kernel_size=3;stride=2;fill=offset",
    "x=0x3x9;kernel_size=3",
    "x=2x65x9;kernel_size=3;stride=2",
    "x=1x2x257;kernel_size=5;stride=2;padding=2",
    "x=2x9x131;kernel_size=3;stride=2",
    "x=2x3x517;kernel_size=5;stride=1;f16,bf16",
    *ONE_SIDED_1D,
    "x=2x5x13;kernel_size=3;stride=2;dilation=2;padding=(0,2)",
]
LAID, ALIGNED = LAID_1D, ALIGNED_1D
LONG, LONGEST = LONG_1D, LONGEST_1D
ATTRIBUTES = pool_attributes(1, dilation=True, modes=("", "ceil_mode=true"))
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
