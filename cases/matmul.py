"""Cases of matmul: unequal sizes around tile edges, every batch broadcast, each input laid out in turn."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.mixed import WEIGHTS, mixed
from opproof.cases._rows.reasons import PRODUCTS
from opproof.cases._rows.shapes import of_one_row
from opproof.cases._rows.typed import typed

SMOKE = ["a=7x33;b=33x5"]
STANDARD = [
    "a=1x1;b=1x1",
    "a=33,;b=33,",
    "a=17,;b=17x9",
    "a=9x17;b=17,",
    "a=31x33;b=33x32",
    "a=65x64;b=64x63;fill=wide",
    "a=5x128;b=128x3;layout=a:transposed",
    "a=5x127;b=127x4;layout=b:transposed",
    "a=4x9;b=9x33;layout=transposed",
    "a=3x7x5;b=3x5x9;layout=permuted",
    "a=2x3x4x5;b=2x3x5x6;layout=a:sliced",
    "a=3x4x5;b=5x6;layout=b:gapped",
    "a=4x5;b=3x5x6;layout=offset",
    "a=2x1x4x7;b=3x7x2",
    "a=2x3x4x7;b=2x1x7x2;layout=b:broadcast",
    "a=1x4x7;b=5x7x3;needs=a",
    "a=5x4x7;b=1x7x3;needs=b",
    "a=6x6;b=@a",
    "a=4x33;b=33x5;fill=offset;f32,f16",
    "a=4x33;b=33x5;fill=small;f32,bf16",
    "a=4x33;b=33x5;fill=positive",
    "a=4x33;b=33x5;fill=zeros",
    "a=7x13;b=13x9;fill=exact",
    "a=2x3x17;b=2x17x5;fill=signs;layout=b:transposed",
    "a=3x0;b=0x4",
    "a=0x3;b=3x4",
    "a=3x257;b=257x5",
    "a=2x768;b=768x3",
    "a=3x4099;b=4099x2;f32",
    "a=2x4099;b=4099x3;f16,bf16",
    "a=7x33;b=33x5;layout=a:broadcast,b:sliced",
    "a=7x33;b=33x5;layout=a:gapped",
    "a=33x2;b=2x17;fill=special",
    "a=33x3;b=3x17;fill=special",
    "a=4099x2;b=2x3;fill=growing;f16,bf16",
    "a=9,;b=9x9",
    "a=9x9;b=9,",
]
TYPED = typed("signed unsigned", *SMOKE, *STANDARD)
MIXED = mixed(
    "b",
    WEIGHTS,
    "a=5x33;b=33x17",
    "a=7x96;b=96x9;layout=b:transposed",
    "a=64x64;b=64x64",
    "a=3x65;b=65x5;fill=wide",
    "a=2x3x31;b=31x9;layout=a:transposed",
    "a=2x1031;b=1031x3",
    "a=1x257;b=257x5;fill=exact;layout=b:gapped",  # sums that bf16 with f8 would not hold
    "a=5x33;b=33x7;fill=zeros",
)
LAID = [
    "a=2x3x4x5;b=2x3x5x6;layout=cropped",
    "a=4x3x5;b=5x2;layout=a:cropped",
    "a=1x1;b=1x3;layout=a:offset",
    "a=3x1;b=1x1;layout=b:offset",
]
ALIGNED = aligned(
    "a=64x64;b=64x64",
    "a=128x64;b=64x192",
    "a=64x128;b=128x64",
    "a=64,;b=64x128",
    "a=64x64;b=64x128",
    "a=128x128;b=128x64",
    "a=2x64x64;b=2x64x64",
    "a=3x64x64;b=64x64",
    "a=16x48;b=48x32",
    "a=16x256;b=256x16",
    "a=128x64;b=64,",
    "a=64x104;b=104x24;f32",
    "a=16x64;b=64x2;f16,f32",
)
LONG, LONGEST = lengths("a={n}x2;b=2x3", "a=3x2;b=2x{n}", "a={n}x1x2;b={n}x2x1", "!!a=2x{n};b={n}x1")
SHAPES = [
    *of_one_row("a=1x{k};b={k}x{n}"),
    "a=5x64;b=64x80",
    "a=2x1x5x7;b=1x3x7x4",
    "a=33,;b=2x33x5",
    "a=2x5x33;b=33,",
    "a=32x65;b=65x48",
    "a=37x64;b=64x35",
    "a=257x65;b=65x263;f32",
    "a=3x1x33;b=3x33x7",
    "a=3x7x33;b=3x33x1",
    # all three past a tile of 128, where a part of K may go missing; whole tiles of M and N with K of none
    "a=131x261;b=261x137;f32",
    "a=128x80;b=80x256;f16,bf16",
    # kernels of f64 at ordinary sizes
    "a=31x33;b=33x32;f64",
    "a=131x261;b=261x137;f64",
    "a=128x8;b=8x128;f32",  # whole tiles, of fewer terms than a step has
]
FULL = ["a=64x12289;b=12289x8", "a=65537x3;b=3x2"]
WITHOUT = PRODUCTS
PAIRED = [
    "a=143x79;b=79x137;f16",
    "a=17x32771;b=32771x19;f32",
    "a=65539x2;b=2x1;f32",
]
