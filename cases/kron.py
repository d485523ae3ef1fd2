"""Cases of kron: matrices, vectors and tensors of unequal rank, one number, each input laid out in turn."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.reasons import PRODUCTS

SMOKE = ["a=3x5;b=4x2", "a=7,;b=5,"]
STANDARD = [
    "a=1x1;b=5x7",
    "a=5x7;b=1x1",
    "a=3x4;b=9,;layout=a:transposed",
    "a=9,;b=3x4;layout=b:transposed",
    "a=2x3x4;b=3x2x5;layout=permuted",
    "a=2x3x4x5;b=3x2;layout=transposed",
    "a=31,;b=33,;layout=a:sliced",
    "a=5x9;b=3x7;layout=b:sliced",
    "a=6x5;b=7x4;layout=gapped",
    "a=8x4;b=4x16;layout=offset",
    "a=5x7;b=4x3;layout=a:broadcast",
    "a=5x7;b=4x3;layout=b:broadcast",
    "a=5x9;b=3x7;fill=wide",
    "a=5x9;b=3x7;fill=offset",
    "a=5x9;b=3x7;fill=zeros",
    "a=5x9;b=3x7;fill=small;f32,bf16",
    "a=5x9;b=3x7;fill=exact",
    "a=5x9;b=3x7;fill=signs;layout=transposed",
    "a=5x9;b=3x7;fill=special",
    "a=5x9;b=3x7;needs=a",
    "a=5x9;b=3x7;needs=b",
    "a=5x3;b=@a",
    "a=0d;b=5x7",
    "a=0x3;b=2x4",
    "a=2x3;b=4x1031;f16,bf16",
    "a=1031x2;b=2x3;f16,bf16",
    "a=65x3;b=2x33",
    "a=263,;b=257,;f32",
]
LAID = ["a=2x3x4;b=2x2x3;layout=cropped", "a=1x1;b=4x3;layout=a:offset", "a=4x3;b=1x1;layout=b:offset"]
ALIGNED = aligned(
    "a=16x16;b=16x16",
    "a=1x64;b=16x16",
    "a=64,;b=64,",
    "a=2x16x16;b=1x16",
    "a=32x16;b=16x1",
    "a=16x1;b=16x64",
    "a=16x48;b=1x16",
)
LONG, LONGEST = lengths("!a={n}x1;b=2x3", "a=2x{n};b=1x2", "a=2x3;b={n}x1", "a=2x1;b=2x{n}")
FULL = ["a=12289x1;b=2x2", "a=3x2;b=1x65537"]
WITHOUT = PRODUCTS
