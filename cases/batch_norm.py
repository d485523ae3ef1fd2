"""Cases of batch_norm: in training and with given moments, with and without weight and bias."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.row import BETWEEN

SMOKE = [
    "x=5x3;training=true",
    "x=2x3x5x7;running_mean=3,;running_var=3,;weight=3,;bias=3,",
]
STANDARD = [
    "x=2x3x5x7;running_mean=3,;running_var=3,;weight=3,;bias=3,;inplace=x",
    "x=5x3x33;weight=3,;bias=3,;training=true;inplace=x",
    "x=5x3x17;training=true;layout=x:transposed;inplace=x",
    "x=9x5x7;weight=5,;training=true;eps=1e-12;fill=small",
    "x=17x5x7;weight=5,;bias=5,;training=true;fill=offset-1e3;f32,f16,bf16",
    "x=17x5x7;weight=5,;bias=5,;training=true;fill=offset-1e4;f32",
    "x=17x5x7;weight=5,;bias=5,;training=true;fill=heavy;f16",
    "x=7x25;training=true;fill=special-columns",
    "x=7x25;running_mean=25,;running_var=25,;fill=special-columns",
    "x=4x3x5;weight=3,;bias=3,;training=true",
    "x=4x3x5;running_mean=3,;running_var=3,;eps=0.1",
    "x=4x3x5;running_mean=3,;running_var=3,;weight=3,;layout=x:transposed",
    "x=4x3x5;running_mean=3,;running_var=3,;bias=3,;layout=offset",
    "x=2x3x7x5;weight=3,;training=true;eps=0.1",
    "x=2x3x5x7;bias=3,;training=true;layout=offset",
    "x=2x3x9x4;weight=3,;bias=3,;training=true;layout=x:transposed",
    "x=2x3x4x9;weight=3,;bias=3,;training=true;layout=permuted",
    "x=2x3x4x9;running_mean=3,;running_var=3,;weight=3,;bias=3,;layout=permuted",
    "x=2x3x2x4x5;weight=3,;bias=3,;training=true;layout=sliced",
    "x=2x3x2x4x5;running_mean=3,;running_var=3,;layout=sliced",
    "x=3x4x33;weight=4,;bias=4,;training=true;layout=gapped",
    "x=3x4x17;weight=4,;bias=4,;training=true;layout=x:broadcast",
    "x=4x3x5;weight=3,;bias=3,;training=true;needs=x",
    "x=4x3x5;running_mean=3,;running_var=3,;weight=3,;bias=3,;needs=weight,bias",
    "x=4x3x9;weight=3,;bias=3,;training=true;fill=wide",
    "x=4x3x9;weight=3,;bias=3,;training=true;fill=offset",
    "x=4x3x9;running_mean=3,;running_var=3,;weight=3,;bias=3,;fill=offset",
    "x=4x3x9;weight=3,;bias=3,;training=true;fill=extreme",
    "x=4x3x9;running_mean=3,;running_var=3,;weight=3,;bias=3,;fill=small",
    "x=4x3x5;training=true;fill=zeros",
    "x=4x17x5;running_mean=17,;running_var=17,;weight=17,;bias=17,;fill=brink",
    "x=4x3x5;training=true;fill=small;eps=0.1",
    "x=2x33;weight=33,;bias=33,;training=true;fill=ties;eps=0.1",
    "x=33x65;weight=65,;bias=65,;training=true",
    "x=9x2x129;weight=2,;bias=2,;training=true",
    "x=4x3x7;running_mean=3,;running_var=3,;training=true;layout=offset",
    "x=4x3x7;running_mean=3,;running_var=3,;weight=3,;bias=3,;layout=weight:offset,running_mean:sliced,running_var:offset,bias:sliced",
    "x=0x3x5;running_mean=3,;running_var=3,;weight=3,;bias=3,",
    "x=4x3x7;running_mean=3,;running_var=3,;weight=3,;layout=offset",
    "x=4099x3;weight=3,;bias=3,;training=true;f16,bf16",
    "x=9x4x1;weight=4,;bias=4,;training=true",
    "x=4x3x9;weight=3,;bias=3,;training=true;fill=negative",
    "x=3x65;training=true;fill=special",
    f"x=6x5x31;training=true;eps={BETWEEN};fill=small;f16,bf16",
    "x=4099x3;weight=3,;bias=3,;training=true;fill=growing;f16,bf16",
    "x=9x9;running_mean=9,;running_var=9,;weight=9,;bias=9,",
    "x=9x9;weight=9,;bias=9,;training=true",
]
LAID = [
    "x=2x4x5x7;weight=4,;bias=4,;training=true;layout=cropped",
    "x=3x1x5;running_mean=1,;running_var=1,;weight=1,;bias=1,;layout=weight:offset,bias:offset,running_mean:offset,running_var:offset",
]
ALIGNED = aligned(
    "x=32x16;weight=16,;bias=16,;training=true",
    "x=16x64;running_mean=64,;running_var=64,;weight=64,;bias=64,",
    "x=2x32x16;weight=32,;bias=32,;training=true",
    "x=2x16x16x16;weight=16,;bias=16,;training=true",
    "x=3x16x16;running_mean=16,;running_var=16,;weight=16,;bias=16,",
    "x=64x128;weight=128,;bias=128,;training=true",
    "x=2x64x16;weight=64,;bias=64,;training=true",
    "x=2x32x16x16;running_mean=32,;running_var=32,;weight=32,;bias=32,",
    "x=2x16x32x32;weight=16,;bias=16,;training=true;f16",
    "x=1x16x64x64;weight=16,;bias=16,;training=true;f16",
)
LONG, LONGEST = lengths(
    "x={n}x2;weight=2,;bias=2,;training=true",
    "x=2x2x{n};weight=2,;bias=2,;training=true",
    "x=3x{n};weight={n},;bias={n},;training=true",
    "x=3x{n};running_mean={n},;running_var={n},;weight={n},;bias={n},",
)
SHAPES = [
    "x=2x3x1031;training=true;fill=leading;f32",
    "x=1031x67;training=true;f32",
    "x=1031x3;weight=3,;bias=3,;training=true;fill=offset-1e3;f32",
]
FULL = [
    "x=2x3x65x129;weight=3,;bias=3,;training=true",
    "x=65537x3;weight=3,;bias=3,;training=true",
]
