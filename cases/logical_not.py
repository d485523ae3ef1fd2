"""Cases of logical_not: zeros of both signs, NaN and infinities."""

from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows
from opproof.cases._rows.reasons import TRUTH
from opproof.cases._rows.typed import typed

SMOKE = ["x=7x33;fill=signs"]
STANDARD = [
    "x=33,;fill=signs",
    "x=5x31;fill=zeros",
    "x=3x32;fill=signs;layout=offset",
    "x=2x3x65;fill=ties;layout=transposed",
    "x=2x3x4x7;fill=signs;layout=permuted",
    "x=4x127;fill=zeros;layout=sliced",
    "x=4x128;fill=exact;layout=gapped",
    "x=5x63;fill=signs;layout=broadcast",
    "x=2x257;fill=zeros",
    "x=33x31;fill=halves",
    "x=6x67;fill=special",
    "x=5x97;fill=kink",
    "x=1x1x97x1;fill=signs",
    "x=3x0",
    "x=0d",
    "x=5x1031;fill=signs",
    "x=5x13;fill=tiny",
    "x=256x256;fill=every",
    "x=2x3x1x2x3x5;fill=signs;f32;layout=permuted",
]
TYPED = typed("signed unsigned", *SMOKE, *STANDARD)
LAID = laid_rows("fill=zeros")
LONG, LONGEST = long_rows("fill=zeros")
SHAPES = [
    "x=4099,;fill=signs",
]
FULL = ["x=2x12289;fill=signs", "x=65537x3;fill=zeros"]
WITHOUT = TRUTH
