"""Cases of topk: one, several and all, largest and smallest, each axis, each layout; no ties."""

SMOKE = [
    "x=7x33;k=5;dim=-1",
]
STANDARD = [
    "x=9,;k=3;dim=0",
    "x=5x31;k=2;dim=0;largest=false;fill=wide",
    "x=3x32;k=32;dim=-1;layout=offset",
    "x=2x3x17;k=2;dim=1;layout=transposed",
    "x=2x3x4x7;k=3;dim=2;largest=false;layout=permuted",
    "x=2x3x4x7;k=1;dim=-4",
    "x=3x33;k=8;dim=-1;largest=false;layout=sliced",
    "x=4x16;k=15;dim=1;layout=gapped",
    "x=5x7x9;k=4;dim=1;layout=broadcast",
    "x=3x15;k=4;dim=-1;fill=negative",
    "x=3x16;k=4;dim=-1;largest=false;fill=positive",
    "x=5x13;k=3;dim=-1;fill=extreme;f32",
    "x=4x1;k=1;dim=-1",
    "x=0x5;k=2;dim=-1",
    "x=3x129;k=17;dim=-1;f32",
    "x=2x1031;k=9;dim=-1;fill=wide;f32",
    "x=130x4;k=2;dim=-1",
]
FULL = [
    "x=2x12289;k=33;dim=-1;fill=wide;f32",
    "x=65537x3;k=2;dim=-1",
]
