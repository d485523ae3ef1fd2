"""Cases of outer_product: vectors, long sums of products, batches that broadcast."""

from opproof.cases._rows.long import lengths
from opproof.cases._rows.typed import typed

SMOKE = [
    "a=7,;b=33,",
    "a=9x7;b=9x33",
]
STANDARD = [
    "a=1,;b=1,",
    "a=31,;b=65,;fill=wide",
    "a=33,;b=9,;layout=a:sliced",
    "a=17,;b=9,;layout=b:sliced",
    "a=64,;b=63,;layout=offset",
    "a=5,;b=@a",
    "a=5,;b=7,;needs=b",
    "a=3x5;b=3x9;layout=a:transposed",
    "a=3x5;b=3x9;layout=b:transposed",
    "a=2x3x5;b=2x3x7;layout=permuted",
    "a=2x3x5;b=3x7;layout=gapped",
    "a=3x5;b=2x3x7",
    "a=2x1x3x5;b=4x3x7;layout=b:broadcast",
    "a=2x9x5;b=1x9x3;needs=a",
    "a=66,;b=12,;fill=zeros",
    "a=33x4;b=33x5;fill=offset;f32,f16",
    "a=6x3;b=6x5;fill=small;f32,bf16",
    "a=9,;b=5,;fill=extreme",
    "a=9x4;b=9x7;fill=exact",
    "a=65x5;b=65x3;fill=signs;layout=transposed",
    "a=0x3;b=0x4",
    "a=3,;b=0,",
    "a=257x3;b=257x5",
    "a=1031x2;b=1031x3",
    "a=8x128;b=8x128;f32",
    "a=257,;b=320,;f32",
    "a=7,;b=33,;layout=a:broadcast",
    "a=33,;b=17,;fill=special",
]
TYPED = typed("signed unsigned", *SMOKE, *STANDARD)
LAID = ["a=2x3x5;b=2x3x7;layout=cropped", "a=1,;b=5,;layout=a:offset", "a=5,;b=1,;layout=b:offset"]
LONG, LONGEST = lengths("a={n},;b=3,", "a=3,;b={n},", "a={n}x2;b={n}x3")
FULL = [
    "a=12289x3;b=12289x2",
    "a=65537,;b=3,",
]
