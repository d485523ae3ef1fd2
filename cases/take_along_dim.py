"""Cases of take_along_dim: x and indices broadcast either way, repeated unsorted indices."""

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
]
FULL = [
    "x=2x12289;indices=1x5;dim=1",
    "x=65537x3;indices=1x2;dim=1",
]
