"""Cases of linear: with and without bias, one row and many, each input laid out in turn."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.mixed import WEIGHTS, mixed
from opproof.cases._rows.reasons import PRODUCTS
from opproof.cases._rows.shapes import of_one_row

SMOKE = [
    "x=7x33;weight=5x33;bias=5,",
    "x=2x3x9;weight=4x9",
]
STANDARD = [
    "x=17,;weight=5x17;bias=5,",
    "x=31x33;weight=32x33;bias=32,",
    "x=5x64;weight=63x64;fill=wide",
    "x=5x128;weight=3x128;bias=3,;layout=x:transposed",
    "x=5x127;weight=4x127;layout=weight:transposed",
    "x=4x9;weight=33x9;bias=33,;layout=transposed",
    "x=2x3x5x7;weight=6x7;bias=6,;layout=permuted",
    "x=2x3x5;weight=6x5;layout=x:sliced",
    "x=3x5;weight=6x5;bias=6,;layout=weight:gapped",
    "x=4x5;weight=6x5;bias=6,;layout=offset",
    "x=5x9;weight=3x9;bias=3,;layout=x:broadcast",
    "x=4x7;weight=3x7;bias=3,;needs=x",
    "x=4x7;weight=3x7;bias=3,;needs=weight",
    "x=4x7;weight=3x7;bias=3,;needs=bias;layout=bias:sliced",
    "x=4x33;weight=5x33;bias=5,;fill=offset;f32,f16",
    "x=4x33;weight=5x33;fill=small;f32,bf16",
    "x=4x33;weight=5x33;bias=5,;fill=zeros",
    "x=7x13;weight=9x13;bias=9,;fill=exact",
    "x=2x3x17;weight=5x17;bias=5,;fill=signs;layout=weight:transposed",
    "x=0x3;weight=4x3;bias=4,",
    "x=3x0;weight=4x0;bias=4,",
    "x=1x1;weight=1x1;bias=1,",
    "x=3x257;weight=5x257;bias=5,",
    "x=2x768;weight=3x768",
    "x=3x4099;weight=2x4099;bias=2,;f32",
    "x=2x4099;weight=3x4099;bias=3,;f16,bf16",
    "x=7x33;weight=5x33;bias=5,;layout=x:gapped,weight:broadcast",
    "x=7x33;weight=5x33;bias=5,;layout=weight:sliced",
    "x=37x9;weight=33x9;bias=33,",
    "x=33x2;weight=17x2;bias=17,;fill=special",
    "x=33x3;weight=17x3;bias=17,;fill=special",
    "x=4099x2;weight=3x2;bias=3,;fill=growing;f16,bf16",
]
MIXED = mixed(
    "weight,bias",
    WEIGHTS,
    "x=7x33;weight=5x33",
    "x=5x32;weight=33x32;bias=33,",
    "x=2x3x65;weight=4x65;layout=x:transposed",
    "x=64x64;weight=64x64",
    "x=1x128;weight=17x128;bias=17,;fill=wide",
    "x=3x1031;weight=2x1031;layout=weight:gapped",
)
LAID = [
    "x=2x3x5;weight=4x5;bias=4,;layout=cropped",
    "x=1,;weight=3x1;bias=3,;layout=x:offset",
    "x=3x1;weight=1x1;bias=1,;layout=weight:offset,bias:offset",
]
ALIGNED = aligned(
    "x=64x64;weight=64x64;bias=64,",
    "x=128x64;weight=64x64;bias=64,",
    "x=64x128;weight=64x128",
    "x=64x64;weight=192x64;bias=192,",
    "x=128x64;weight=64x64;bias=64,",
    "x=64x256;weight=64x256;bias=64,",
    "x=2x64x64;weight=64x64;bias=64,",
    "x=64,;weight=64x64;bias=64,",
    "x=16x32;weight=48x32;bias=48,",
    "x=64x104;weight=24x104;bias=24,;f32",
    "x=16x64;weight=2x64;f16,f32",
)
LONG, LONGEST = lengths("x={n}x2;weight=3x2;bias=3,", "!!x=2x{n};weight=1x{n};bias=1,", "x=2x3;weight={n}x3;bias={n},")
SHAPES = [
    "x=65x9;weight=5x9;bias=5,;fill=spread;f32",
    "x=3x1x33;weight=7x33",
    "x=3x7x33;weight=1x33",
    *of_one_row("x=1x{k};weight={n}x{k};bias={n},"),
    "x=5x64;weight=80x64;bias=80,",
    "x=32x65;weight=48x65;bias=48,",
    "x=37x64;weight=35x64",
    "x=257x65;weight=263x65;f32",
    # all three past a tile of 128, where a part of K may go missing; whole tiles of rows with K of none
    "x=131x261;weight=137x261;bias=137,;f32",
    "x=128x80;weight=256x80;f16",
    "x=128x8;weight=128x8;bias=128,;f32",  # whole tiles, of fewer terms than a step has
]
FULL = [
    "x=8x12289;weight=4x12289;bias=4,",
    "x=65537x3;weight=2x3;bias=2,",
]
WITHOUT = PRODUCTS
PAIRED = [
    "x=143x79;weight=137x79;bias=137,;f16",
    "x=17x32771;weight=19x32771;bias=19,;f32",
    "x=65539x2;weight=1x2;bias=1,;f32",
]
