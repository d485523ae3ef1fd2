"""Cases of dynamic_quantize_linear: ranges on one side of 0 and on both, halves between codes, every layout."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths

SMOKE = ["x=7x33;f32"]
STANDARD = [
    "x=5x31;fill=wide;f32;layout=transposed",
    "x=2x3x65;f32;layout=permuted",
    "x=3x33;f32;layout=sliced",
    "x=4x128;f32;layout=gapped",
    "x=5x63;f32;layout=broadcast",
    "x=3x32;f32;layout=offset",
    "x=5x97;fill=negative;f32",
    "x=5x97;fill=positive;f32",
    "x=5x97;fill=offset;f32",
    "x=6x11;fill=small;f32",
    "x=9x33;fill=extreme;f32",
    "x=5x31;fill=halves;f32",
    "x=19,",
    "x=1,;f32",
    "x=2x3x4x7;f32",
    "x=5x1031;f32",
    "x=2x4099;f32",
    "x=2x3x1x2x3x5;f32;layout=permuted",
]
LAID = ["x=2x3x5x9;f32;layout=cropped", "x=1x2;f32;layout=offset"]
ALIGNED = aligned("x=16x64;f32", "x=64x128;f32", "x=32x128;f32", "x=16x256;f32", "x=2x16x64;f32")
LONG, LONGEST = lengths("x={n}x2;f32", "x=2x{n};f32")
FULL = ["x=2x12289;f32", "x=65537x3;f32"]
WITHOUT = {"NaN, inf": "what becomes of NaN is no rule that libraries share", "empty": "nothing has no range"}
