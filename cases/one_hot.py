"""Cases of one_hot: one class and many, ranks 0 to 3; f32 rows only, since every number is an integer."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths

SMOKE = [
    "index=7,;num_classes=5;f32",
]
STANDARD = [
    "index=1,;num_classes=1;f32",
    "index=33,;num_classes=3;f32",
    "index=5x7;num_classes=9;f32",
    "index=5x7;num_classes=4;f32;layout=transposed",
    "index=9x4;num_classes=33;f32;layout=sliced",
    "index=3x8;num_classes=5;f32;layout=gapped",
    "index=2x3x5;num_classes=7;f32;layout=permuted",
    "index=4x6;num_classes=3;f32;layout=offset",
    "index=4x5;num_classes=6;f32;layout=broadcast",
    "index=0d;num_classes=4;f32",
    "index=0,;num_classes=4;f32",
    "index=9,;num_classes=257;f32",
    "index=2,;num_classes=1031;f32",
    "index=21,;num_classes=66;f32",
    "index=257,;num_classes=3;f32",
]
LAID = ["index=2x3x4;num_classes=5;f32;layout=cropped", "index=0d;num_classes=5;f32;layout=offset"]
ALIGNED = aligned(
    "index=16,;num_classes=16;f32",
    "index=16x16;num_classes=16;f32",
    "index=32x16;num_classes=32;f32",
    "index=16x32;num_classes=64;f32",
    "index=4x16x16;num_classes=16;f32",
    "index=16x48;num_classes=16;f32",
    "index=2x16x16;num_classes=16;f32",
)
LONG, LONGEST = lengths(
    "index={n}x1;num_classes=3;f32", "index=3,;num_classes={n};f32", "index=1x{n};num_classes=3;f32"
)
FULL = [
    "index=65537,;num_classes=3;f32",
    "index=3,;num_classes=12289;f32",
]
