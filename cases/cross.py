"""Cases of cross: vectors along each axis, every kind of broadcast, one that is both operands' product with itself."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.reasons import PRODUCTS

SMOKE = ["a=7x3;b=7x3", "a=5x3x4;b=5x3x4;dim=-2"]
STANDARD = [
    "a=3,;b=3,",
    "a=5x33x3;b=1x33x3;layout=a:transposed",
    "a=33x3;b=5x1x3;layout=b:transposed",
    "a=2x3x4x5;b=3x1x5;dim=-3;layout=permuted",
    "a=3x65;b=3x65;dim=-2;layout=a:sliced",
    "a=3x31;b=3x1;dim=-2;layout=b:sliced",
    "a=65x3;b=65x3;layout=gapped",
    "a=64x3;b=64x3;layout=offset",
    "a=17x3;b=17x3;layout=a:broadcast",
    "a=17x3;b=17x3;layout=b:broadcast,a:gapped",
    "a=33x3;b=3,;layout=a:gapped",
    "a=9x3;b=9x3;fill=wide",
    "a=9x3;b=9x3;fill=offset",
    "a=9x3;b=9x3;fill=negative",
    "a=9x3;b=9x3;fill=positive",
    "a=9x3;b=9x3;fill=zeros",
    "a=9x3;b=9x3;fill=small;f32,bf16",
    "a=9x3;b=9x3;fill=exact",
    "a=3x9;b=3x9;dim=-2;fill=signs;layout=transposed",
    "a=9x3;b=9x1x3;needs=a",
    "a=1x3;b=9x3;needs=b",
    "a=0x3;b=1x3",
    "a=9x9x3;b=9x3",
    "a=3x3;b=3,;dim=-1",
    "a=1031x3;b=1031x3",
    "a=3x1031;b=3x1031;dim=-2",
    "a=2x1x3x1x2x5;b=1x2x3x4x1x5;dim=-4;f32;layout=permuted",
]
LAID = [
    "a=2x5x3;b=2x5x3;layout=cropped",
    "a=5x9x3;b=5x1x3;layout=a:cropped",
    "a=3,;b=5x3;layout=a:offset",
    "a=5x3;b=1x3;layout=b:offset",
]
ALIGNED = aligned(
    "a=16x3;b=16x3",
    "a=3x64;b=3x64;dim=-2",
    "a=128x3;b=128x3",
    "a=16x3x32;b=16x3x32;dim=-2",
    "a=64x16x3;b=16x3",
    "a=3x256;b=3x256;dim=-2",
    "a=48x3;b=48x3",
)
LONG, LONGEST = lengths("a={n}x3;b=1x3", "a=2x1x3;b={n}x3", "a=3x{n};b=3x{n};dim=-2")
SHAPES = ["a=9x9x3;b=9x1x3", "a=9x1x3;b=9x9x3"]
FULL = ["a=12289x3;b=12289x3", "a=3x65537;b=3x65537;dim=-2"]
WITHOUT = {
    **PRODUCTS,
    "given twice": "the product of a vector with itself is zero",
    "NaN, inf": "a product of infinity and zero is NaN in any order, and nothing else is left of three numbers",
}
