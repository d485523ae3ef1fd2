"""Cases of compress: every axis, more places than slices and fewer, none kept, each input laid out in turn."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.typed import typed

SMOKE = [
    "x=19x9;condition=19,;dim=0;size=5",
]
STANDARD = [
    "x=9,;condition=9,;dim=0;size=20",
    "x=5x31;condition=5,;dim=0;size=3;layout=x:transposed",
    "x=5x31;condition=31,;dim=1;size=40;layout=condition:sliced",
    "x=3x32;condition=32,;dim=-1;size=32;layout=offset",
    "x=2x3x65;condition=3,;dim=1;size=7;layout=transposed",
    "x=2x3x4x7;condition=4,;dim=2;size=5;layout=permuted",
    "x=4x3x4x7;condition=4,;dim=-4;size=6;layout=transposed",
    "x=3x33;condition=33,;dim=1;size=17;layout=x:sliced",
    "x=4x65;condition=65,;dim=1;size=31;layout=x:gapped,condition:offset",
    "x=5x63;condition=63,;dim=1;size=9;layout=x:broadcast",
    "x=3x22;condition=22,;dim=1;size=33;fill=special",
    "x=9x7;condition=7,;dim=1;size=33;fill=special;f16",
    "x=3x97;condition=97,;dim=1;size=9;fill=extreme",
    "x=5x3;condition=3,;dim=1;size=17;fill=exact",
    "x=2x3;condition=2,;dim=0;size=65;fill=signs;layout=x:transposed",
    "x=1x3;condition=1,;dim=0;size=5",
    "x=9x33;condition=9,;dim=0;size=7;fill=truths",
    "x=5x7;condition=7,;dim=1;size=9;fill_value=-2.5;layout=transposed",
    "x=5x7;condition=5,;dim=0;size=8;fill_value=3;layout=condition:broadcast",
    "x=3x5;condition=5,;dim=1;size=0",
    "x=65x4;condition=65,;dim=0;size=1",
    "x=3x4;condition=4,;dim=1;size=257",
    "x=2x1031;condition=1031,;dim=1;size=33",
    "x=2x3;condition=2,;dim=0;size=1031",
    "x=2x3;condition=2,;dim=0;size=4099;f16,bf16",
    "x=3x1031;condition=3,;dim=0;size=9;f16,bf16",
    "x=4099x17;condition=4099,;dim=0;size=66;f32,f16,bf16",
    "x=3x2;condition=3,;dim=0;size=4099;fill=growing;f16,bf16",
]
TYPED = typed("float8 signed unsigned", *SMOKE, *STANDARD)
LAID = [
    "x=2x3x4;condition=3,;dim=1;size=5;layout=cropped",
    "x=1x1;condition=1,;dim=0;size=5;layout=x:offset",
    "x=5x3;condition=5,;dim=0;size=1;layout=condition:offset",
]
ALIGNED = aligned(
    "x=16x64;condition=16,;dim=0;size=16",
    "x=64x128;condition=64,;dim=0;size=32",
    "x=32x64;condition=64,;dim=1;size=16",
    "x=16x256;condition=16,;dim=0;size=64",
    "x=2x16x64;condition=16,;dim=1;size=16",
    "x=48x64;condition=48,;dim=0;size=48",
    "x=2x16x32;condition=16,;dim=1;size=32",
    "x=16x128;condition=128,;dim=-1;size=16",
)
LONG, LONGEST = lengths(
    "x={n}x2;condition={n},;dim=0;size=3", "!x=2x{n};condition={n},;dim=1;size=3", "x=3x2;condition=3,;dim=0;size={n}"
)
SHAPES = [
    "x=2x3;condition=2,;dim=0;size=65;fill=spread;f32",
    "x=4x4x4;condition=4,;dim=1;size=4",
    "x=4x4;condition=4,;dim=0;size=3",
    "x=1031x67;condition=1031,;dim=0;size=1031;f32",
]
FULL = [
    "x=2x12289;condition=2,;dim=0;size=5",
    "x=65537x3;condition=65537,;dim=0;size=9",
]
WITHOUT = {"equal axes": "the condition has one axis"}
