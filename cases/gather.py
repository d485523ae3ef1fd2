"""Cases of gather: repeated unsorted indices, an index smaller and longer than x, each input laid out in turn."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.typed import typed

SMOKE = [
    "x=7x9;index=7x5;dim=1",
]
STANDARD = [
    "x=9,;index=20,;dim=0",
    "x=5x31;index=3x31;dim=0;layout=x:transposed",
    "x=5x31;index=5x40;dim=1;layout=index:transposed",
    "x=3x32;index=3x32;dim=-1;layout=offset",
    "x=2x3x65;index=2x7x65;dim=1;layout=transposed",
    "x=2x3x4x7;index=2x3x5x7;dim=2;layout=permuted",
    "x=4x3x4x7;index=6x2x3x4;dim=-4",
    "x=4x9x4;index=4x5x3;dim=-2",
    "x=3x33;index=2x17;dim=1;layout=x:sliced",
    "x=3x33;index=3x16;dim=1;layout=index:sliced",
    "x=4x65;index=4x31;dim=1;layout=x:gapped,index:offset",
    "x=5x63;index=5x9;dim=1;layout=x:broadcast",
    "x=5x6;index=4x6;dim=0;layout=index:broadcast",
    "x=3x22;index=3x33;dim=1;fill=special",
    "x=3x97;index=3x9;dim=1;fill=extreme",
    "x=5x3;index=5x17;dim=1;fill=exact",
    "x=2x3;index=65x3;dim=0;fill=signs;layout=x:transposed",
    "x=3x1;index=3x5;dim=1",
    "x=3x5;index=3x0;dim=1",
    "x=3x4;index=3x257;dim=1",
    "x=2x1031;index=2x33;dim=1",
    "x=2x3;index=1031x3;dim=0",
    "x=7x9;index=7x5;dim=1;layout=index:gapped",
    "x=2x3;index=4099x3;dim=0;f16,bf16",
    "x=5x1031;index=9x1031;dim=0;f16,bf16",
    "x=4099x17;index=33x17;dim=0;f32,f16,bf16",
    "x=3x2;index=4099x2;dim=0;fill=growing;f16,bf16",
]
TYPED = typed("float8 signed unsigned", *SMOKE, *STANDARD)
LAID = [
    "x=2x3x4;index=2x3x4;dim=1;layout=cropped",
    "x=1,;index=5,;dim=0;layout=x:offset",
    "x=5,;index=1,;dim=0;layout=index:offset",
]
ALIGNED = aligned(
    "x=16x64;index=16x64;dim=1",
    "x=64x128;index=64x16;dim=1",
    "x=32x64;index=16x64;dim=0",
    "x=16x256;index=16x256;dim=0",
    "x=2x16x64;index=2x16x64;dim=2",
    "x=48x64;index=32x64;dim=0",
    "x=2x16x32;index=2x16x32;dim=1",
    "x=16x128;index=16x128;dim=-1",
)
LONG, LONGEST = lengths(
    "x={n}x2;index=3x2;dim=0", "!x=2x{n};index=2x3;dim=1", "x=3x2;index={n}x2;dim=0", "x=2x3;index=2x{n};dim=1"
)
SHAPES = [
    "x=2x3;index=65x3;dim=0;fill=spread;f32",
    "x=4x4x4;index=4x4x4;dim=1",
    "x=1031x67;index=1031x67;dim=1;f32",
]
FULL = [
    "x=2x12289;index=2x5;dim=1",
    "x=65537x3;index=65537x2;dim=1",
]
