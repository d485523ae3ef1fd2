"""Cases of tensordot: no axis, one, two and three in common, each input laid out in turn, long sums."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.reasons import PRODUCTS

SMOKE = ["a=5x3x4;b=3x4x7", "a=5x9;b=9x7;axes=1"]
STANDARD = [
    "a=1x1;b=1x1;axes=1",
    "a=4,;b=5x3;axes=0",
    "a=33,;b=33,;axes=1",
    "a=5x3x4;b=3x4;layout=a:transposed",
    "a=3x4;b=3x4x7;layout=b:transposed",
    "a=2x3x4x5;b=3x4x5x6;axes=3;layout=permuted",
    "a=2x3x9;b=9x4x5;axes=1;layout=transposed",
    "a=31x5x3;b=5x3x33;layout=a:sliced",
    "a=7x4x9;b=4x9x31;layout=b:sliced",
    "a=6x2x65;b=2x65x5;layout=gapped",
    "a=4x3x32;b=3x32x9;layout=offset",
    "a=5x3x4;b=3x4x7;layout=a:broadcast",
    "a=5x3x4;b=3x4x7;layout=b:broadcast",
    "a=5x3x4;b=3x4x7;fill=wide",
    "a=5x3x4;b=3x4x7;fill=offset;f32,f16",
    "a=5x3x4;b=3x4x7;fill=zeros",
    "a=5x3x4;b=3x4x7;fill=small;f32,bf16",
    "a=5x3x4;b=3x4x7;fill=exact",
    "a=5x3x4;b=3x4x7;fill=signs;layout=transposed",
    "a=9x3x4;b=3x4x7;fill=special",
    "a=5x3x4;b=3x4x7;needs=a",
    "a=5x3x4;b=3x4x7;needs=b",
    "a=5x5;b=@a;axes=1",
    "a=0x3x4;b=3x4x5",
    "a=3x0x4;b=0x4x5",
    "a=2x3x431;b=3x431x3;f16,bf16",
    "a=2x4099;b=4099x3;axes=1;f32",
    "a=65x3x2;b=3x2x67",
    "a=129x16x3;b=16x3x130",
]
LAID = [
    "a=5x3x4;b=3x4x7;layout=cropped",
    "a=1x1x1;b=1x1x5;layout=a:offset",
    "a=5x1x1;b=1x1x1;layout=b:offset",
]
ALIGNED = aligned(
    "a=64x64;b=64x64;axes=1",
    "a=128x64;b=64x192;axes=1",
    "a=64x128;b=128x64;axes=1",
    "a=64x16x64;b=16x64x64",
    "a=64x64;b=64x128;axes=1",
    "a=128x128;b=128x64;axes=1",
    "a=2x64x64;b=64x64;axes=1",
    "a=64x64x2;b=64x2x64;axes=2;f32",
    "a=16x48;b=48x32;axes=1",
    "a=16x256;b=256x16;axes=1",
    "a=64x104;b=104x24;axes=1;f32",
)
LONG, LONGEST = lengths(
    "a={n}x1x2;b=1x2x3",
    "a=2x{n}x1;b={n}x1x3",
    "!a=2x1x{n};b=1x{n}x3",
    "a=2x1x3;b=1x3x{n}",
)
SHAPES = [
    "a=5x64;b=64x80;axes=1",
    "a=32x65;b=65x48;axes=1",
    "a=37x64;b=64x35;axes=1",
    "a=257x65;b=65x263;axes=1;f32",
    "a=131x261;b=261x137;axes=1;f32",
    "a=128x80;b=80x256;axes=1;f16,bf16",
    "a=31x33;b=33x32;axes=1;f64",
    "a=128x8;b=8x128;axes=1;f32",  # whole tiles, of fewer terms than a step has
]
FULL = ["a=2x3x4096;b=3x4096x2;f32", "a=65537x2x1;b=2x1x3"]
WITHOUT = PRODUCTS
PAIRED = [
    "a=143x79;b=79x137;axes=1;f16",
    "a=17x32771;b=32771x19;axes=1;f32",
    "a=65539x2;b=2x1;axes=1;f32",
    "a=2x65x33;b=33x1;axes=1",
]
