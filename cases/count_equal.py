"""Cases of count_equal: integers only, so one dtype; sizes past vector widths and past one block."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.typed import typed

SMOKE = [
    "a=7x33;b=7x33;f32",
]
STANDARD = [
    "a=9,;b=9,;f32",
    "a=5x31;b=5x31;f32;layout=a:transposed",
    "a=3x32;b=3x32;f32;layout=offset",
    "a=2x3x65;b=2x3x65;f32;layout=b:transposed",
    "a=2x3x4x7;b=2x3x4x7;f32;layout=permuted",
    "a=4x33;b=4x33;f32;layout=a:sliced",
    "a=4x63;b=4x63;f32;layout=b:gapped",
    "a=5x64;b=5x64;f32;layout=a:broadcast",
    "a=4x9;b=@a;f32",
    "a=1x1;b=1x1;f32",
    "a=3x0;b=3x0;f32",
    "a=2x257;b=2x257;f32",
    "a=2x1031;b=2x1031;f32",
    "a=3x4099;b=3x4099;f32",
    "a=5x3x7;b=5x3x7;f32;layout=b:permuted",
    "a=9x5;b=9x5;f32;layout=a:gapped,b:sliced",
    "a=5x6;b=5x6;f32;layout=b:broadcast",
    "a=5x33;b=5x33;f32;fill=negative",
    "a=65537x3;b=@a;f32",
]
TYPED = typed("signed unsigned", *SMOKE, *STANDARD)
LAID = ["a=2x3x4;b=2x3x4;f32;layout=cropped"]
ALIGNED = aligned(
    "a=16x64;b=16x64;f32",
    "a=64x128;b=64x128;f32",
    "a=32x64;b=32x64;f32",
    "a=16x256;b=16x256;f32",
    "a=2x16x64;b=2x16x64;f32",
    "a=48x64;b=48x64;f32",
    "a=16x1024;b=16x1024;f32",
)
LONG, LONGEST = lengths("a={n}x2;b={n}x2;f32", "a=1x{n};b=1x{n};f32")
FULL = [
    "a=2x12289;b=2x12289;f32",
    "a=65537x3;b=65537x3;f32",
]
