"""Cases of adaptive_avg_pool2d: parts that divide the plane and parts that overlap, one part, more parts than cells."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths

SMOKE = [
    "x=2x3x7x9;output_size=(3,4)",
]
STANDARD = [
    "x=2x3x9x11;output_size=(2,3);fill=heavy;f16",
    "x=2x3x9x11;output_size=(9,4);fill=special-rows",
    "x=1x1x1x1;output_size=1",
    "x=2x3x6x8;output_size=(3,2)",
    "x=2x3x5x7;output_size=1",
    "x=2x3x7x5;output_size=(2,5);layout=transposed",
    "x=2x3x7x5;output_size=(4,3);layout=permuted",
    "x=2x3x10x7;output_size=(7,3);layout=offset",
    "x=2x3x9x11;output_size=4;layout=sliced",
    "x=2x3x9x8;output_size=(5,3);layout=gapped",
    "x=3x4x6x5;output_size=(4,2);layout=broadcast",
    "x=2x3x3x4;output_size=(5,7)",
    "x=2x3x1x9;output_size=(1,4)",
    "x=2x3x7x5;output_size=3;fill=wide",
    "x=2x3x7x5;output_size=3;fill=offset;f32,f16",
    "x=2x3x7x5;output_size=3;fill=extreme",
    "x=2x3x7x5;output_size=3;fill=zeros",
    "x=2x3x7x5;output_size=(3,4);fill=negative;layout=transposed",
    "x=2x3x7x5;output_size=(3,2);fill=small;f32,bf16",
    "x=2x5x4x4;output_size=3;fill=special",
    "x=0x3x5x5;output_size=2",
    "x=2x65x4x3;output_size=(3,2)",
    "x=1x3x31x33;output_size=(7,6)",
    "x=2x3x9x130;output_size=(5,67)",
    "x=1x2x1x4099;output_size=1;f16,bf16",
]
LAID = ["x=2x3x5x4;output_size=(3,2);layout=cropped", "x=1x1x1x1;output_size=2;layout=offset"]
ALIGNED = aligned(
    "x=1x16x16x16;output_size=(8,8)",
    "x=2x16x16x16;output_size=1",
    "x=1x16x32x32;output_size=(16,16)",
    "x=2x3x16x32;output_size=(5,7)",
    "x=2x16x16x32;output_size=4",
    "x=1x32x16x16;output_size=(3,8)",
    "x=1x16x16x64;output_size=(4,16)",
)
LONG, LONGEST = lengths(
    "x={n}x1x2x3;output_size=(1,2)",
    "x=1x{n}x3x2;output_size=(2,1)",
    "x=1x1x{n}x2;output_size=(3,2)",
    "x=1x1x2x3;output_size=(2,{n})",
    "x=1x1x2x{n};output_size=(1,4)",
)
FULL = [
    "x=1x3x129x257;output_size=(7,9)",
    "x=65537x1x2x3;output_size=(1,2)",
]
