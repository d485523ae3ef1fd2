"""Cases of index_add: repeated unsorted indices, slices never named, alpha, each axis, each input laid out in turn."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.typed import typed

SMOKE = [
    "x=7x9;index=5,;source=5x9;dim=0",
]
STANDARD = [
    "x=7x33;index=5,;source=5x33;dim=0;inplace=x",
    "x=9x5;index=4,;source=9x4;dim=1;layout=x:transposed;inplace=x",
    "x=9,;index=20,;source=20,;dim=0",
    "x=5x31;index=3,;source=3x31;dim=0;alpha=0.5;layout=x:transposed",
    "x=5x31;index=40,;source=5x40;dim=1;layout=source:transposed",
    "x=3x32;index=32,;source=3x32;dim=-1;alpha=-2.0;layout=offset",
    "x=2x3x65;index=7,;source=2x7x65;dim=1;layout=transposed",
    "x=2x3x4x7;index=5,;source=2x3x5x7;dim=2;alpha=0.1;layout=permuted",
    "x=4x3x4x7;index=6,;source=6x3x4x7;dim=-4",
    "x=3x33;index=17,;source=3x17;dim=1;layout=x:sliced,index:sliced",
    "x=4x65;index=31,;source=4x31;dim=1;layout=source:gapped",
    "x=5x63;index=9,;source=5x9;dim=1;layout=x:broadcast",
    "x=5x7;index=9,;source=9x7;dim=0;layout=source:broadcast",
    "x=4x5;index=6,;source=6x5;dim=0;needs=source",
    "x=3x22;index=33,;source=3x33;dim=1;fill=special",
    "x=3x97;index=9,;source=3x9;dim=1;fill=extreme",
    "x=5x3;index=17,;source=5x17;dim=1;fill=exact",
    "x=2x3;index=65,;source=65x3;dim=0;alpha=2.0;fill=signs;layout=x:transposed",
    "x=1x3;index=5,;source=5x3;dim=0",
    "x=3x5;index=0,;source=3x0;dim=1",
    "x=3x4;index=257,;source=3x257;dim=1",
    "x=2x1031;index=9,;source=2x9;dim=1",
    "x=7x9;index=5,;source=5x9;dim=0;layout=x:gapped,source:sliced",
    "x=2x3;index=4099,;source=4099x3;dim=0;f16,bf16",
    "x=3x1031;index=9,;source=9x1031;dim=0;alpha=0.12554;f16,bf16",
    "x=4099x17;index=66,;source=66x17;dim=0",
]
TYPED = typed("signed unsigned", *SMOKE, *STANDARD)
LAID = [
    "x=2x3x4;index=5,;source=2x5x4;dim=1;layout=cropped",
    "x=1,;index=5,;source=5,;dim=0;layout=x:offset",
    "x=5,;index=1,;source=1,;dim=0;layout=index:offset,source:offset",
]
ALIGNED = aligned(
    "x=16x64;index=16,;source=16x64;dim=0",
    "x=64x128;index=32,;source=32x128;dim=0",
    "x=32x64;index=16,;source=32x16;dim=1",
    "x=16x256;index=64,;source=64x256;dim=0",
    "x=2x16x64;index=16,;source=2x16x64;dim=1",
    "x=48x64;index=48,;source=48x64;dim=0",
    "x=2x16x32;index=32,;source=2x32x32;dim=1",
    "x=16x128;index=16,;source=16x16;dim=-1",
)
LONG, LONGEST = lengths(
    "x={n}x2;index=3,;source=3x2;dim=0",
    "!x=2x{n};index=3,;source=2x3;dim=1",
    "x=3x2;index={n},;source={n}x2;dim=0",
    "x=2x3;index={n},;source=2x{n};dim=1",
)
SHAPES = [
    "x=2x3;index=65,;source=65x3;dim=0;fill=spread;f32",
    "x=4x4x4;index=4,;source=4x4x4;dim=1",
]
FULL = [
    "x=2x12289;index=5,;source=5x12289;dim=0",
    "x=65537x3;index=9,;source=9x3;dim=0",
]
