"""Cases of index_select: repeated unsorted indices, slices never taken, each axis, each input laid out in turn."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.typed import typed

SMOKE = [
    "x=7x9;index=5,;dim=0",
]
STANDARD = [
    "x=9,;index=20,;dim=0",
    "x=5x31;index=3,;dim=0;layout=x:transposed",
    "x=5x31;index=40,;dim=1;layout=index:sliced",
    "x=3x32;index=32,;dim=-1;layout=offset",
    "x=2x3x65;index=7,;dim=1;layout=transposed",
    "x=2x3x4x7;index=5,;dim=2;layout=permuted",
    "x=4x3x4x7;index=6,;dim=-4;layout=transposed",
    "x=3x33;index=17,;dim=1;layout=x:sliced",
    "x=4x65;index=31,;dim=1;layout=x:gapped,index:offset",
    "x=5x63;index=9,;dim=1;layout=x:broadcast",
    "x=3x22;index=33,;dim=1;fill=special",
    "x=9x7;index=33,;dim=1;fill=special;f16",
    "x=3x97;index=9,;dim=1;fill=extreme",
    "x=5x3;index=17,;dim=1;fill=exact",
    "x=2x3;index=65,;dim=0;fill=signs;layout=x:transposed",
    "x=1x3;index=5,;dim=0",
    "x=3x5;index=0,;dim=1",
    "x=65x4;index=1,;dim=0",
    "x=3x4;index=257,;dim=1",
    "x=2x1031;index=33,;dim=1",
    "x=2x3;index=1031,;dim=0",
    "x=2x3;index=4099,;dim=0;f16,bf16",
    "x=3x1031;index=9,;dim=0;f16,bf16",
    "x=4099x17;index=66,;dim=0;f32,f16,bf16",
    "x=3x2;index=4099,;dim=0;fill=growing;f16,bf16",
]
TYPED = typed("float8 signed unsigned", *SMOKE, *STANDARD)
LAID = [
    "x=2x3x4;index=5,;dim=1;layout=cropped",
    "x=1x1;index=5,;dim=0;layout=x:offset",
    "x=5x3;index=1,;dim=0;layout=index:offset",
]
ALIGNED = aligned(
    "x=16x64;index=16,;dim=0",
    "x=64x128;index=32,;dim=0",
    "x=32x64;index=16,;dim=1",
    "x=16x256;index=64,;dim=0",
    "x=2x16x64;index=16,;dim=1",
    "x=48x64;index=48,;dim=0",
    "x=2x16x32;index=32,;dim=1",
    "x=16x128;index=16,;dim=-1",
)
LONG, LONGEST = lengths("x={n}x2;index=3,;dim=0", "!x=2x{n};index=3,;dim=1", "x=3x2;index={n},;dim=0")
SHAPES = [
    "x=2x3;index=65,;dim=0;fill=spread;f32",
    "x=4x4x4;index=4,;dim=1",
    "x=1031x67;index=1031,;dim=0;f32",
]
FULL = [
    "x=2x12289;index=5,;dim=0",
    "x=65537x3;index=9,;dim=0",
]
