"""Cases of bmm: unequal sizes around tile edges, each input laid out in turn."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.reasons import PRODUCTS
from opproof.cases._rows.shapes import of_one_row

SMOKE = [
    "a=2x7x33;b=2x33x5",
]
STANDARD = [
    "a=1x1x1;b=1x1x1",
    "a=3x31x33;b=3x33x32",
    "a=2x5x64;b=2x64x63;fill=wide",
    "a=3x5x128;b=3x128x3;layout=a:transposed",
    "a=3x5x127;b=3x127x4;layout=b:transposed",
    "a=3x4x9;b=3x9x33;layout=transposed",
    "a=3x7x5;b=3x5x9;layout=permuted",
    "a=4x3x5;b=4x5x6;layout=a:sliced",
    "a=3x4x5;b=3x5x6;layout=b:gapped",
    "a=3x4x5;b=3x5x6;layout=offset",
    "a=5x4x7;b=5x7x3;layout=b:broadcast",
    "a=5x4x7;b=5x7x3;needs=a",
    "a=5x4x7;b=5x7x3;needs=b;layout=a:broadcast",
    "a=3x6x6;b=@a",
    "a=2x4x33;b=2x33x5;fill=offset;f32,f16",
    "a=2x4x33;b=2x33x5;fill=zeros",
    "a=2x7x13;b=2x13x9;fill=exact",
    "a=3x5x65;b=3x65x7;fill=signs;layout=b:transposed",
    "a=2x3x0;b=2x0x4",
    "a=0x3x4;b=0x4x2",
    "a=2x3x257;b=2x257x5",
    "a=2x2x1031;b=2x1031x3",
    "a=2x7x33;b=2x33x5;layout=a:gapped,b:sliced",
    "a=3x33x2;b=3x2x17;fill=special",
    "a=3x33x3;b=3x3x17;fill=special",
    "a=2x2x4099;b=2x4099x3;f16,bf16",
]
LAID = ["a=2x3x4;b=2x4x5;layout=cropped", "a=1x1x1;b=1x1x5;layout=a:offset", "a=1x5x1;b=1x1x1;layout=b:offset"]
ALIGNED = aligned(
    "a=2x64x64;b=2x64x64",
    "a=2x64x64;b=2x64x128",
    "a=2x64x128;b=2x128x64",
    "a=3x64x64;b=3x64x64",
    "a=2x128x64;b=2x64x64",
    "a=3x64x64;b=3x64x64",
    "a=2x64x64;b=2x64x192",
    "a=16x16x32;b=16x32x16",
    "a=2x64x104;b=2x104x24;f32",
    "a=2x16x64;b=2x64x2;f16,f32",
)
LONG, LONGEST = lengths("a={n}x2x1;b={n}x1x2", "a=1x{n}x2;b=1x2x3", "a=1x3x2;b=1x2x{n}", "a=1x2x{n};b=1x{n}x1")
SHAPES = [
    "a=3x1x33;b=3x33x7",
    "a=3x7x33;b=3x33x1",
    *of_one_row("a=2x1x{k};b=2x{k}x{n}"),
    "a=2x5x64;b=2x64x80",
    "a=2x32x65;b=2x65x48",
    "a=2x37x64;b=2x64x35",
    "a=1x257x65;b=1x65x263;f32",
    # more matrices than a block has warps
    "a=9x5x7;b=9x7x3;f32,f16",
    "a=2x128x8;b=2x8x128;f32",  # whole tiles, of fewer terms than a step has
]
FULL = [
    "a=2x8x12289;b=2x12289x4",
    "a=65537x1x3;b=65537x3x2",
]
WITHOUT = PRODUCTS
PAIRED = [
    "a=1x143x79;b=1x79x137;f16",
    "a=1x17x32771;b=1x32771x19;f32",
    "a=1x65539x2;b=1x2x1;f32",
]
