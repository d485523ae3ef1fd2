"""Rows that pools over one axis share, over two and over three: layouts, whole tiles, long axes."""

from __future__ import annotations

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths

#: Padding on one side, or more on one than on the other; windows that ceil_mode lets hang over either.
ONE_SIDED_1D = [
    "x=2x3x9;kernel_size=3;stride=2;padding=(1,0)",
    "x=2x3x9;kernel_size=3;stride=2;padding=(0,1);layout=x:transposed",
    "x=2x5x12;kernel_size=4;stride=3;padding=(1,2);ceil_mode=true",
    "x=2x5x8;kernel_size=2;stride=3;padding=(0,1);ceil_mode=true;layout=sliced",
    "x=1x3x7;kernel_size=3;stride=1;padding=(2,0);fill=negative",
]
ONE_SIDED_2D = [
    "x=2x3x7x9;kernel_size=3;stride=2;padding=(1,0,0,1)",
    "x=2x3x6x8;kernel_size=3;stride=2;padding=(0,0,1,1);layout=transposed",
    "x=2x3x8x6;kernel_size=2;stride=1;padding=(1,1,0,0);layout=permuted",
    "x=1x3x7x10;kernel_size=(2,4);stride=3;padding=(0,2,1,1);ceil_mode=true",
    "x=1x3x8x8;kernel_size=(3,2);stride=(2,3);padding=(2,0,1,1);ceil_mode=true;layout=gapped",
    "x=1x17x5x6;kernel_size=3;stride=1;padding=(0,2,2,0);fill=negative",
]
ONE_SIDED_3D = [
    "x=1x3x4x6x5;kernel_size=(2,3,2);stride=2;padding=(1,0,0,0,1,1)",
    "x=1x3x3x5x6;kernel_size=2;stride=1;padding=(0,0,1,1,1,0);layout=transposed",
    "x=1x2x4x5x7;kernel_size=(2,2,3);stride=(3,2,2);padding=(0,1,2,1,0,0);ceil_mode=true;fill=negative",
]

LAID_1D = ["x=2x3x7;kernel_size=2;layout=cropped", "x=1x1x1;kernel_size=1;layout=offset"]
ALIGNED_1D = aligned(
    "x=2x16x16;kernel_size=2",
    "x=2x16x32;kernel_size=3;stride=2;padding=1",
    "x=2x32x16;kernel_size=2",
    "x=2x32x64;kernel_size=3;stride=1;padding=1",
    "x=2x16x64;kernel_size=4",
    "x=3x16x16;kernel_size=2;stride=1",
    "x=2x64x16;kernel_size=2",
)
LONG_1D, LONGEST_1D = lengths("x={n}x1x4;kernel_size=2", "x=1x{n}x3;kernel_size=2", "x=1x1x{n};kernel_size=2")
LONG_1D += lengths("x=1x2x{n};kernel_size={n}", upto=1025)[0]

LAID_2D = ["x=2x3x5x4;kernel_size=2;layout=cropped", "x=1x1x1x1;kernel_size=1;layout=offset"]
ALIGNED_2D = aligned(
    "x=1x16x16x16;kernel_size=2",
    "x=2x16x16x16;kernel_size=3;stride=2;padding=1",
    "x=1x16x32x32;kernel_size=2",
    "x=2x32x16x32;kernel_size=3;stride=1;padding=1",
    "x=2x16x16x32;kernel_size=(2,4)",
    "x=1x32x16x16;kernel_size=(1,2);stride=2",
    "x=1x16x16x64;kernel_size=2",
)
LONG_2D, LONGEST_2D = lengths(
    "x={n}x1x2x3;kernel_size=2", "x=1x{n}x3x2;kernel_size=2", "x=1x1x{n}x2;kernel_size=2", "x=1x1x2x{n};kernel_size=2"
)
LONG_2D += lengths("x=1x2x2x{n};kernel_size=(1,{n})", upto=1025)[0]

LAID_3D = ["x=2x3x4x5x3;kernel_size=2;layout=cropped", "x=1x1x1x1x1;kernel_size=1;layout=offset"]
ALIGNED_3D = aligned(
    "x=1x16x2x16x16;kernel_size=2",
    "x=1x16x3x16x16;kernel_size=3;stride=2;padding=1",
    "x=1x16x2x16x32;kernel_size=(1,2,4)",
    "x=1x32x2x16x16;kernel_size=2;stride=1",
    "x=2x16x2x16x16;kernel_size=(2,1,2);stride=2",
    "x=1x16x4x16x16;kernel_size=2;stride=(1,2,2)",
    "x=1x16x2x16x48;kernel_size=2",
    "x=1x48x2x16x16;kernel_size=2",
)
LONG_3D, LONGEST_3D = lengths(
    "x={n}x1x2x2x1;kernel_size=(2,2,1)",
    "x=1x{n}x2x1x2;kernel_size=(2,1,2)",
    "x=1x1x{n}x2x1;kernel_size=(2,2,1)",
    "x=1x1x2x{n}x1;kernel_size=(2,2,1)",
    "x=1x1x1x2x{n};kernel_size=(1,2,2)",
)
