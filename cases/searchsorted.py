"""Cases of searchsorted: rows with equal numbers, values that are in a row, before it and behind it, both sides."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths

SMOKE = ["sorted=3x9;values=3x7;fill=ties"]
STANDARD = [
    "sorted=9,;values=66,;fill=ties;right=true",
    "sorted=5x31;values=5x17;fill=halves;layout=sorted:transposed",
    "sorted=5x31;values=5x17;fill=halves;layout=values:transposed;right=true",
    "sorted=33,;values=3x32;layout=offset",
    "sorted=2x3x65;values=2x3x9;fill=ties;layout=permuted",
    "sorted=4x127;values=4x33;fill=ties;layout=sliced",
    "sorted=4x128;values=4x31;right=true;layout=gapped",
    "sorted=63,;values=5x63;fill=ties;layout=values:broadcast",
    "sorted=5x16;values=5x9;fill=ties;layout=sorted:broadcast",
    "sorted=17,;values=2x257;fill=wide",
    "sorted=17,;values=66,;fill=special",
    "sorted=9,;values=5x13;fill=negative",
    "sorted=9,;values=3x97;fill=extreme",
    "sorted=1,;values=33,;fill=ties",
    "sorted=2x0;values=2x3",
    "sorted=2x3;values=2x0",
    "sorted=9,;values=0d;fill=ties",
    "sorted=3x1031;values=3x5",
    "sorted=7,;values=25x7;fill=special-rows",
    "sorted=3x5;values=3x1031;fill=ties;right=true",
    "sorted=9,;values=2x3x2x3x5;f32;layout=permuted",
]
LAID = ["sorted=2x3x5;values=2x3x4;fill=ties;layout=cropped", "sorted=1,;values=1,;layout=offset"]
ALIGNED = aligned(
    "sorted=16x64;values=16x16;fill=ties",
    "sorted=64x16;values=64x128;fill=ties",
    "sorted=256,;values=32x64;fill=ties",
    "sorted=16x256;values=16x64;right=true",
    "sorted=2x16x64;values=2x16x32;fill=ties",
    "sorted=48x16;values=48x64;fill=ties",
)
LONG, LONGEST = lengths(
    "!sorted={n}x2;values={n}x2", "sorted={n},;values=9,", "sorted=5,;values={n}x2", "sorted=3x5;values=3x{n}"
)
FULL = ["sorted=12289,;values=65537,;fill=ties"]
