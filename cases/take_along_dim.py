"""Cases of take_along_dim: x and indices broadcast either way, repeated unsorted indices."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.typed import typed

SMOKE = [
    "x=7x9;indices=7x5;dim=1",
]
STANDARD = [
    "x=9,;indices=20,;dim=0",
    "x=5x31;indices=1x40;dim=1;layout=x:transposed",
    "x=1x31;indices=5x7;dim=1",
    "x=5x7;indices=3x1;dim=0",
    "x=5x1;indices=3x7;dim=0;layout=indices:transposed",
    "x=3x32;indices=3x32;dim=-1;layout=offset",
    "x=2x1x65;indices=2x3x9;dim=2;layout=transposed",
    "x=2x3x4x7;indices=1x3x5x1;dim=2;layout=permuted",
    "x=4x1x4x7;indices=6x2x1x7;dim=-4",
    "x=4x9x3;indices=4x5x1;dim=-2",
    "x=2x3x9x5;indices=2x3x4x1;dim=-2",
    "x=3x33;indices=3x17;dim=1;layout=x:sliced",
    "x=3x33;indices=1x16;dim=1;layout=indices:sliced",
    "x=4x65;indices=4x31;dim=1;layout=x:gapped",
    "x=5x63;indices=5x9;dim=1;layout=x:broadcast",
    "x=3x22;indices=1x33;dim=1;fill=special",
    "x=1x97;indices=3x9;dim=1;fill=extreme",
    "x=5x3;indices=1x17;dim=1;fill=exact",
    "x=9x1;indices=65x3;dim=0;fill=signs",
    "x=3x5;indices=3x0;dim=1",
    "x=1x4;indices=3x257;dim=1",
    "x=2x1031;indices=1x33;dim=1",
    "x=5x7x66;indices=5x3x66;dim=1;layout=indices:permuted",
    "x=7x9;indices=7x5;dim=1;layout=indices:broadcast",
    "x=7x9;indices=7x5;dim=1;layout=indices:gapped",
    "x=5x7x66;indices=5x5x66;dim=1",
    "x=2x3;indices=4099x3;dim=0;f16,bf16",
    "x=5x1031;indices=9x1031;dim=0;f16,bf16",
    "x=4099x17;indices=33x17;dim=0;f32,f16,bf16",
]
TYPED = typed("float8 signed unsigned", *SMOKE, *STANDARD)
LAID = [
    "x=2x3x4;indices=2x3x4;dim=1;layout=cropped",
    "x=1,;indices=5,;dim=0;layout=x:offset",
    "x=5,;indices=1,;dim=0;layout=indices:offset",
]
ALIGNED = aligned(
    "x=16x64;indices=16x64;dim=1",
    "x=64x128;indices=64x16;dim=1",
    "x=32x64;indices=16x64;dim=0",
    "x=16x256;indices=16x256;dim=0",
    "x=2x16x64;indices=2x16x64;dim=2",
    "x=48x64;indices=32x64;dim=0",
    "x=2x16x32;indices=2x16x32;dim=1",
    "x=16x128;indices=16x128;dim=-1",
)
LONG, LONGEST = lengths(
    "x={n}x2;indices=3x2;dim=0", "!x=2x{n};indices=2x3;dim=1", "x=3x2;indices={n}x2;dim=0", "x=2x3;indices=2x{n};dim=1"
)
SHAPES = [
    "x=9x1;indices=65x3;dim=0;fill=spread;f32",
    "x=4x4x4;indices=4x4x4;dim=1",
]
FULL = [
    "x=2x12289;indices=1x5;dim=1",
    "x=65537x3;indices=1x2;dim=1",
]
