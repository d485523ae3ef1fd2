"""Cases of topk: one, several and all, largest and smallest, each axis, each layout; no ties (short 16-bit rows)."""

SMOKE = [
    "x=7x9;k=3;dim=-1",
]
STANDARD = [
    "x=9,;k=3;dim=0",
    "x=5x31;k=2;dim=0;largest=false;fill=wide",
    "x=3x32;k=32;dim=-1;layout=offset;f32",
    "x=2x3x17;k=2;dim=1;layout=transposed",
    "x=2x3x4x7;k=3;dim=2;largest=false;layout=permuted",
    "x=2x3x4x7;k=1;dim=-4",
    "x=3x33;k=8;dim=-1;largest=false;layout=sliced;f32",
    "x=6x8;k=7;dim=1;layout=gapped",
    "x=5x7x9;k=4;dim=1;layout=broadcast",
    "x=9x5;k=2;dim=-1;fill=negative",
    "x=9x6;k=4;dim=-1;largest=false;fill=positive;layout=sliced",
    "x=5x13;k=3;dim=-1;fill=extreme;f32",
    "x=4x1;k=1;dim=-1",
    "x=0x5;k=2;dim=-1",
    "x=3x129;k=3;dim=-1;fill=wide;f32",
    "x=2x768;k=1;dim=-1;largest=false;f32",
    "x=2x1031;k=9;dim=-1;fill=wide;f32",
    "x=2x4099;k=3;dim=-1;fill=wide;f32",
    "x=130x4;k=2;dim=-1",
    "x=27x66;k=41;dim=-1;fill=wide;f32",
]
FULL = [
    "x=2x12289;k=33;dim=-1;fill=wide;f32",
    "x=65537x3;k=2;dim=-1;f32",
]
