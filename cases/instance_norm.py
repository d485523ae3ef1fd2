"""Cases of instance_norm: one, two and three spatial axes, with and without weight and bias."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.row import BETWEEN

SMOKE = [
    "x=2x3x7",
    "x=2x3x5x7;weight=3,;bias=3,",
]
STANDARD = [
    "x=2x3x5x7;weight=3,;bias=3,;inplace=x",
    "x=2x3x33;layout=transposed;inplace=x",
    "x=3x4x33;eps=1e-12;fill=small",
    "x=3x4x65;weight=4,;bias=4,;fill=offset-1e3;f32,f16,bf16",
    "x=3x4x65;weight=4,;bias=4,;fill=offset-1e4;f32",
    "x=3x4x65;weight=4,;bias=4,;fill=heavy;f16",
    "x=5x5x7;fill=special-rows",
    "x=2x5x31;weight=5,;eps=0.1",
    "x=2x3x32;bias=3,;layout=offset",
    "x=2x3x9x4;weight=3,;bias=3,;layout=x:transposed",
    "x=2x3x4x9;weight=3,;bias=3,;layout=permuted",
    "x=2x3x2x4x5;weight=3,;bias=3,;layout=sliced",
    "x=3x4x33;weight=4,;bias=4,;layout=gapped",
    "x=3x4x17;weight=4,;bias=4,;layout=x:broadcast",
    "x=2x3x9;weight=3,;bias=3,;needs=x",
    "x=2x3x9;weight=3,;bias=3,;needs=weight,bias;layout=x:transposed",
    "x=2x3x33;weight=3,;bias=3,;fill=wide",
    "x=2x3x65;weight=3,;bias=3,;fill=offset",
    "x=2x3x33;weight=3,;bias=3,;fill=extreme",
    "x=2x3x11;fill=zeros",
    "x=2x3x11;fill=small",
    "x=2x3x11;fill=small;eps=0.1",
    "x=9x4x2;weight=4,;bias=4,;fill=ties;eps=0.1",
    "x=2x33x6;weight=33,;bias=33,",
    "x=2x3x31x17;weight=3,;bias=3,",
    "x=1x2x1031;weight=2,;bias=2,",
    "x=2x3x99;weight=3,;bias=3,;layout=offset",
    "x=0x3x5;weight=3,;bias=3,",
    "x=17x7x2;fill=special",
    "x=1x2x4099;f32",
    "x=2x3x11;fill=negative",
    f"x=4x5x31;eps={BETWEEN};fill=small;f16,bf16",
    "x=4099x2x3;weight=2,;bias=2,;fill=growing;f16,bf16",
]
LAID = ["x=2x4x5x7;weight=4,;bias=4,;layout=cropped", "x=3x1x5;weight=1,;bias=1,;layout=weight:offset,bias:offset"]
ALIGNED = aligned(
    "x=2x16x16;weight=16,;bias=16,",
    "x=2x32x16;weight=32,;bias=32,",
    "x=2x16x16x16;weight=16,",
    "x=2x16x64;weight=16,;bias=16,",
    "x=3x16x64;weight=16,;bias=16,",
    "x=2x16x32",
    "x=1x16x256;weight=16,;bias=16,",
    "x=2x16x1024;weight=16,;bias=16,;f16,f32,bf16",
    "x=1x16x64x64;weight=16,;bias=16,;f16",
)
LONG, LONGEST = lengths(
    "x={n}x2x3;weight=2,;bias=2,", "!x=1x{n}x3;weight={n},;bias={n},", "!x=1x2x{n};weight=2,;bias=2,"
)
SHAPES = [
    "x=2x3x1031;fill=leading;f32",
    "x=2x3x257;fill=outliers;f16",
    "x=8x131x67;f32",
    "x=2x3x33x37;weight=3,;bias=3,;fill=offset-1e3;f32",  # many places take another path
]
FULL = [
    "x=1x2x65x129;weight=2,;bias=2,",
    "x=2x65537x3",
]
PAIRED = [
    "x=3x4x7",
]
