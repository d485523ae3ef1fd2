"""Cases of shape: every rank, parts from either end, beyond it and of nothing, every layout."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths

SMOKE = ["x=7x33"]
STANDARD = [
    "x=9,",
    "x=2x3x65;start=1",
    "x=2x3x65;end=-1",
    "x=2x3x4x7;start=1;end=3",
    "x=2x3x4x7;start=-3;end=-1;layout=permuted",
    "x=2x3x4x7;start=-9;end=9",
    "x=2x3x4x7;start=3;end=2",
    "x=5x31;layout=transposed",
    "x=3x33;layout=sliced",
    "x=4x128;layout=gapped",
    "x=5x63;layout=broadcast",
    "x=3x32;layout=offset",
    "x=0d",
    "x=0x3",
    "x=3x0x5;start=1",
    "x=1x9x1;end=2",
    "x=2x3x1x2x3x5;f32;layout=permuted",
    "x=5x1031",
    "x=2x4099;f32",
    "x=66,;fill=special",
    "x=6x11;fill=zeros",
    "x=6x11;fill=extreme",
    "x=6x11;fill=negative",
    "x=6x11;fill=small",
]
LAID = ["x=2x3x5x9;layout=cropped", "x=1x2;layout=offset"]
ALIGNED = aligned("x=16x64", "x=64x128;start=1", "x=16x256", "x=2x16x64;end=2")
LONG, LONGEST = lengths("x={n}x2", "x=2x{n}")
FULL = ["x=2x12289", "x=65537x3"]
