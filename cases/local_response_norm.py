"""Cases of local_response_norm: odd and even sizes, sizes past the channels, alpha and beta that matter."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.row import BETWEEN

SMOKE = [
    "x=2x7x5;size=3;alpha=0.5",
]
STANDARD = [
    "x=2x7x33;size=3;alpha=0.5;inplace=x",
    "x=2x9x5;size=5;alpha=0.5;layout=transposed;inplace=x",
    "x=2x7x25;size=3;fill=special-rows",
    "x=7x9x25;size=3;fill=special-columns",
    "x=2x7x5;size=2;alpha=1.0",
    "x=2x7x4;size=4;alpha=0.5;beta=0.5;k=2.0",
    "x=2x5x3x4;size=5;alpha=2.0;beta=1.0;layout=permuted",
    "x=2x5x4x3;size=3;alpha=1.0;layout=transposed",
    "x=3x4x9;size=3;alpha=1.0;beta=0.75;layout=sliced",
    "x=3x4x9;size=2;alpha=1.0;layout=gapped",
    "x=3x6x9;size=3;alpha=1.0;layout=broadcast",
    "x=3x6x7;size=3;alpha=1.0;layout=offset",
    "x=2x3x5;size=7;alpha=1.0",
    "x=2x9x5;size=1;alpha=0.3;k=0.5",
    "x=2x9x5;size=3;alpha=0.5;fill=wide",
    "x=2x9x5;size=3;alpha=0.5;fill=extreme",
    "x=2x9x5;size=3;alpha=0.5;fill=offset",
    "x=2x9x5;size=3;alpha=0.5;fill=zeros",
    "x=2x9x5;size=3;alpha=1.0;k=0.001;fill=small",
    "x=2x9x5;size=3;alpha=0.5;beta=2.0;fill=negative",
    "x=2x9x3x2x2;size=3;alpha=0.5",
    "x=2x1x5;size=3;alpha=1.0",
    "x=0x4x5;size=3;alpha=1.0",
    "x=2x65x3;size=33;alpha=1.0",
    "x=2x33x2;size=5;alpha=1.0;beta=-0.5",
    "x=2x97x5;size=5;alpha=1.0",
    "x=2x9x131;size=3;alpha=0.5",
    "x=5x9x7;size=3;alpha=0.5;fill=special",
    "x=1x131x33;size=99;alpha=5.0;beta=3.0;f16,bf16",
    f"x=2x7x41;size=3;alpha={512 * BETWEEN};f16,bf16",
    f"x=2x7x41;size=3;k={512 * BETWEEN};f16,bf16",
]
LAID = ["x=2x4x5x7;size=3;alpha=0.5;layout=cropped"]
ALIGNED = aligned(
    "x=2x16x16;size=3;alpha=0.5",
    "x=2x32x16;size=5;alpha=0.5",
    "x=2x16x16x16;size=3;alpha=0.5",
    "x=2x16x64;size=3;alpha=0.5",
    "x=3x16x64;size=4;alpha=0.5",
    "x=2x16x32;size=3;alpha=0.5",
    "x=2x64x16;size=2;alpha=0.5",
)
LONG, LONGEST = lengths("x={n}x3x2;size=3;alpha=0.5", "x=1x{n}x2;size=3;alpha=0.5", "x=1x3x{n};size=3;alpha=0.5")
SHAPES = [
    "x=2x7x65;size=3;alpha=0.5;fill=outliers;f16",
    "x=8x131x67;size=3;alpha=0.5;f32",
]
FULL = [
    "x=1x4097x3;size=5;alpha=1.0",
    "x=65537x3x1;size=3;alpha=1.0",
]
