"""Cases of where: each of the three tensors broadcast in turn, and laid out in turn."""

from opproof.cases._rows.long import lengths
from opproof.cases._rows.typed import typed

SMOKE = ["condition=7x33;a=7x33;b=7x33"]
STANDARD = [
    "condition=7x33;a=7x33;b=7x33;inplace=a",
    "condition=7x33;a=7x33;b=7x33;inplace=b",
    "condition=2x65;a=3x2x65;b=65,;layout=a:transposed;inplace=a",
    "condition=7x33;a=7x33;b=7x33;fill=truths",
    "condition=2x3x33;a=3x33;b=33,;fill=truths;layout=condition:transposed",
    "condition=7x33;a=7x33;b=7x33;fill=masked",
    "condition=7x33;a=7x33;b=7x33;fill=masked-special",
    "condition=9,;a=9,;b=9,",
    "condition=4x3;a=1x3;b=4x3",
    "condition=4x3;a=4x3;b=4x1;fill=wide",
    "condition=1x5;a=4x5;b=4x5;layout=a:transposed",
    "condition=31,;a=2x31;b=3x1x31;layout=b:sliced",
    "condition=5x32;a=0d;b=5x32;layout=condition:transposed",
    "condition=5x33;a=5x33;b=0d;layout=offset",
    "condition=2x3x4x9;a=3x1x9;b=4x1;layout=permuted",
    "condition=2x1x4x1;a=3x1x65;b=1,;fill=wide",
    "condition=4x127;a=4x127;b=4x127;fill=extreme",
    "condition=4x128;a=4x128;b=4x128;layout=gapped",
    "condition=5x63;a=5x63;b=5x63;layout=condition:broadcast",
    "condition=2x257;a=2x257;b=2x257;fill=zeros",
    "condition=6x11;a=6x11;b=6x11;fill=small;needs=a",
    "condition=6x13;a=6x1;b=6x13;needs=b",
    "condition=66,;a=66,;b=66,;fill=special",
    "condition=2x3x5;a=3x1;b=5,;fill=exact",
    "condition=9x17;a=9x17;b=17,;fill=signs;layout=a:sliced",
    "condition=3x0;a=3x1;b=3x0",
    "condition=5x1031;a=5x1031;b=5x1031",
    "condition=5x1031;a=1x1031;b=5x1031;f16,bf16",
    "condition=7x33;a=7x33;b=7x33;layout=condition:sliced,a:broadcast,b:broadcast",
    "condition=7x33;a=7x33;b=7x33;layout=b:transposed",
    "condition=9,;a=9x9;b=9x9",
    "condition=9x9;a=9x9;b=9,",
    "condition=2x1x1x4x1x5;a=2x1x3x1x2x5;b=1x2x1x4x1x5;f32;layout=permuted",
]
TYPED = typed("float8 signed unsigned", *SMOKE, *STANDARD)
LAID = [
    "condition=2x3x4;a=2x3x4;b=2x3x4;layout=cropped",
    "condition=3x5;a=0d;b=3x5;layout=a:offset",
    "condition=3x5;a=3x5;b=0d;layout=b:offset",
]
LONG, LONGEST = lengths(
    "condition={n}x2;a={n}x2;b={n}x2", "condition=1x{n};a=1x{n};b=2x{n}", "condition=1x{n};a=1x{n};b=1x{n}"
)
FULL = ["condition=2x12289;a=12289,;b=2x1", "condition=65537x3;a=65537x3;b=65537x1"]
SHAPES = [
    "condition=9x9;a=9x1;b=9x9",
    "condition=9x1;a=9x9;b=9x1",
]
