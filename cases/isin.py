"""Cases of isin: few different numbers, of which some are looked for, one test and many, NaN and zeros."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.typed import typed

SMOKE = ["elements=7x33;tests=3,;fill=halves"]
STANDARD = [
    "elements=66,;tests=3,;fill=halves;invert=true",
    "elements=5x31;tests=2,;fill=ties;layout=elements:transposed",
    "elements=3x32;tests=4,;fill=halves;layout=offset",
    "elements=2x3x65;tests=3,;fill=ties;layout=elements:permuted",
    "elements=3x33;tests=5,;fill=halves;layout=sliced",
    "elements=4x128;tests=2,;fill=ties;layout=gapped",
    "elements=5x63;tests=3,;fill=halves;layout=elements:broadcast",
    "elements=66,;tests=7,;fill=special",
    "elements=22,;tests=5,;fill=zeros",
    "elements=5x13;tests=1,;fill=signs",
    "elements=257x3;tests=33,;fill=exact",
    "elements=9x97;tests=17,;fill=halves",
    "elements=3x97;tests=5,;fill=extreme",
    "elements=3x5;tests=0,",
    "elements=3x0;tests=3,",
    "elements=5x1031;tests=4,;fill=halves",
    "elements=9,;tests=1031,;fill=halves;invert=true",
    "elements=2x3x1x2x3x5;tests=3,;fill=halves;f32;layout=permuted",
]
TYPED = typed("signed unsigned", *SMOKE, *STANDARD)
LAID = ["elements=2x3x4;tests=3,;fill=halves;layout=cropped", "elements=1,;tests=5,;fill=signs;layout=elements:offset"]
ALIGNED = aligned(
    "elements=16x64;tests=16,;fill=exact",
    "elements=64x128;tests=16,;fill=exact",
    "elements=16x256;tests=32,;fill=exact",
    "elements=2x16x64;tests=16,;fill=exact",
)
LONG, LONGEST = lengths(
    "!elements={n}x2;tests=3,;fill=halves", "elements=1x{n};tests=3,;fill=halves", "elements=5,;tests={n},"
)
FULL = ["elements=65537x3;tests=3,;fill=halves", "elements=2x12289;tests=5,;fill=halves"]
