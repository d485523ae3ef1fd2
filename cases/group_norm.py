"""Cases of group_norm: one group, as many as channels, between; with and without weight and bias."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.mixed import NORMS, mixed
from opproof.cases._rows.row import BETWEEN

SMOKE = [
    "x=2x6x5;num_groups=3",
    "x=2x6x5;weight=6,;bias=6,;num_groups=2",
]
STANDARD = [
    "x=2x6x33;weight=6,;bias=6,;num_groups=2;inplace=x",
    "x=2x6x5x7;num_groups=3;layout=permuted;inplace=x",
    "x=3x6x33;num_groups=2;eps=1e-12;fill=small",
    "x=3x6x33;weight=6,;bias=6,;num_groups=2;fill=offset-1e3;f32,f16,bf16",
    "x=3x6x33;weight=6,;bias=6,;num_groups=2;fill=offset-1e4;f32",
    "x=3x6x33;weight=6,;bias=6,;num_groups=2;fill=heavy;f16",
    "x=25x6;num_groups=1;fill=special-rows",
    "x=25x2x5;num_groups=2;fill=special-rows",
    "x=3x8;num_groups=2",
    "x=2x6x7x5;weight=6,;num_groups=3;eps=0.1",
    "x=2x6x5x7;weight=6,;bias=6,;num_groups=2;layout=offset",
    "x=2x4x9x3;weight=4,;bias=4,;num_groups=1;layout=x:transposed",
    "x=2x4x3x9;weight=4,;bias=4,;num_groups=4;layout=permuted",
    "x=2x6x3x4x5;weight=6,;bias=6,;num_groups=3;layout=sliced",
    "x=3x8x33;weight=8,;bias=8,;num_groups=4;layout=gapped",
    "x=3x6x9;weight=6,;bias=6,;num_groups=2;layout=x:broadcast",
    "x=2x6x7;weight=6,;bias=6,;num_groups=3;needs=x",
    "x=2x6x7;weight=6,;bias=6,;num_groups=3;needs=weight,bias;layout=x:transposed",
    "x=2x6x11;weight=6,;bias=6,;num_groups=2;fill=wide",
    "x=2x6x11;weight=6,;bias=6,;num_groups=2;fill=offset",
    "x=2x6x11;weight=6,;bias=6,;num_groups=2;fill=extreme",
    "x=2x6x5;num_groups=2;fill=zeros",
    "x=2x6x5;num_groups=2;fill=small",
    "x=2x6x5;num_groups=2;fill=small;eps=0.1",
    "x=9x4x1;weight=4,;bias=4,;num_groups=2;fill=ties;eps=0.1",
    "x=3x4x1;weight=4,;bias=4,;num_groups=4;eps=0.1",
    "x=2x66x13;weight=66,;bias=66,;num_groups=33",
    "x=2x4x17x31;weight=4,;bias=4,;num_groups=2",
    "x=2x6x99;weight=6,;bias=6,;num_groups=3",
    "x=1x4x1031;num_groups=2;f32,f16",
    "x=0x4x5;weight=4,;bias=4,;num_groups=2",
    "x=17x6x2;num_groups=3;fill=special",
    "x=1x4x4099;num_groups=2;f32",
    "x=2x6x11;weight=6,;bias=6,;num_groups=2;fill=negative",
    "x=1x4x1031;num_groups=2;bf16",
    f"x=4x6x25;num_groups=3;eps={BETWEEN};fill=small;f16,bf16",
    "x=4099x2x3;weight=2,;bias=2,;num_groups=1;fill=growing;f16,bf16",
]
MIXED = mixed(
    "weight,bias",
    NORMS,
    "x=2x6x5;weight=6,;bias=6,;num_groups=2",
    "x=3x8x4x4;weight=8,;bias=8,;num_groups=4;fill=wide",
    "x=2x6x33;weight=6,;num_groups=3;layout=x:transposed",
)
LAID = [
    "x=2x4x5x7;weight=4,;bias=4,;num_groups=2;layout=cropped",
    "x=3x1x5;weight=1,;bias=1,;num_groups=1;layout=weight:offset,bias:offset",
]
ALIGNED = aligned(
    "x=2x16x16;weight=16,;bias=16,;num_groups=4",
    "x=2x32x16;weight=32,;bias=32,;num_groups=8",
    "x=2x16x16x16;weight=16,;num_groups=1",
    "x=2x32x16x16;weight=32,;bias=32,;num_groups=2",
    "x=3x16x64;weight=16,;bias=16,;num_groups=16",
    "x=2x16x32;num_groups=2",
    "x=2x64x16;weight=64,;bias=64,;num_groups=4",
    "x=2x16x16x16;weight=16,;bias=16,;num_groups=4",
    "x=1x16x256;weight=16,;bias=16,;num_groups=16",
)
LONG, LONGEST = lengths(
    "x={n}x2x3;weight=2,;bias=2,;num_groups=1",
    "x=2x2x{n};weight=2,;bias=2,;num_groups=2",
    "x=1x{n}x2;weight={n},;bias={n},;num_groups=1",
)
SHAPES = [
    # squares far apart, one of each channel: a sum in series leans to one side
    "x=1x70001x1x1x1;weight=70001,;num_groups=1;eps=0.1;f32;fill=outliers;layout=x:transposed,weight:offset",
    "x=2x6x1031;num_groups=3;fill=leading;f32",
    "x=2x6x65;num_groups=3;fill=outliers;f16",
    "x=2x6x31x37;num_groups=3;weight=6,;bias=6,;f32",
    "x=6x172x67;num_groups=4;f32",
    "x=2x6x17x37;weight=6,;bias=6,;num_groups=2;fill=offset-1e3;f32",  # many places take another path
]
FULL = [
    "x=1x4x65x129;weight=4,;bias=4,;num_groups=2",
    "x=65537x2x3;num_groups=1",
]
