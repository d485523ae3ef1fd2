"""Cases of embedding: rows named twice and out of order, rows named by nobody, one row, many."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.typed import typed

SMOKE = ["weight=7x33;indices=5,"]
STANDARD = [
    "weight=1x9;indices=4,",
    "weight=2x5;indices=9,",
    "weight=4x16;indices=32,;f32,f16,bf16",  # a table of a few vectors, whose last number ends its memory
    "weight=5x31;indices=3x4;fill=wide",
    "weight=9x32;indices=2x3x2;layout=weight:offset",
    "weight=6x33;indices=7,;layout=weight:transposed",
    "weight=6x65;indices=3x5;layout=indices:transposed",
    "weight=7x9;indices=2x3x4;layout=permuted",
    "weight=8x63;indices=9,;layout=sliced",
    "weight=8x64;indices=9,;layout=gapped",
    "weight=9x17;indices=12,",
    "weight=4x6;indices=3x7;layout=indices:sliced",
    "weight=6x9;indices=13,;layout=weight:broadcast",
    "weight=33x4;indices=5,;fill=zeros",
    "weight=3x7;indices=65,;fill=exact",
    "weight=4x9;indices=31,;fill=signs;layout=indices:transposed",
    "weight=5x127;indices=8,;fill=extreme",
    "weight=9x8;indices=6,;fill=special",
    "weight=9x8;indices=33,;fill=special",
    "weight=9x1;indices=33,",
    "weight=6x4;indices=0,",
    "weight=6x4;indices=0d",
    "weight=257x3;indices=130,",
    "weight=3x1031;indices=5,",
    "weight=7x9;indices=3x5;layout=indices:gapped",
    "weight=7x9;indices=3x5;layout=indices:offset",
    "weight=7x9;indices=3x5;layout=indices:broadcast",
    "weight=9x33;indices=2x3x2;layout=offset",
    "weight=3x5;indices=4099,;f16,bf16",
    "weight=4x9;indices=6x5;padding_idx=2",
    "weight=4x9;indices=31,;padding_idx=0;layout=weight:transposed",
    "weight=4x7;indices=33,;padding_idx=-1",
    "weight=5x3;indices=4x6;padding_idx=-4",
    "weight=3x65;indices=2x3x4;padding_idx=2;layout=indices:transposed",
    "weight=4099x17;indices=66,;f32,f16,bf16",
    "weight=3x5;indices=4099,;fill=growing;f16,bf16",
]
TYPED = typed("float8 signed unsigned", *SMOKE, *STANDARD)
LAID = [
    "weight=7x5;indices=2x3x4;layout=indices:cropped",
    "weight=1x5;indices=4,;layout=weight:transposed",
    "weight=1x1;indices=3,;layout=weight:offset",
    "weight=5x7;indices=1,;layout=indices:offset",
]
ALIGNED = aligned(
    "weight=32x64;indices=16,",
    "weight=16x128;indices=32,",
    "weight=64x64;indices=4x16",
    "weight=16x256;indices=16,",
    "weight=32x64;indices=48,",
    "weight=128x64;indices=16,",
    "weight=16x64;indices=2x3x16",
    "weight=16x1024;indices=16,;f16,f32,bf16",
)
LONG, LONGEST = lengths(
    "!weight={n}x2;indices=3,", "!weight=3x{n};indices=2,", "weight=3x2;indices={n}x1", "weight=3x2;indices=1x{n}"
)
SHAPES = [
    "weight=3x5;indices=130,;fill=spread;f32",
    "weight=131x67;indices=1031,;f32",
    # rows past 32,767 and past 65,535, most of them
    "weight=131073x2;indices=67,;f32",
]
FULL = ["weight=4x12289;indices=3,", "weight=65537x3;indices=65537,"]
