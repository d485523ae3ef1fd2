"""Cases of alibi: head counts that are and are no power of two, queries that begin past the first key."""

from opproof.cases._rows.long import lengths

SMOKE = ["x=2x3x5x33"]
STANDARD = [
    "x=2x3x5x33;inplace=x",
    "x=2x4x5x17;layout=permuted;inplace=x",
    "x=1x40x3x5;max_bias=8.0",
    "x=2x5x9x7;max_bias=8.0;fill=branches",
    "x=2x5x9x7;max_bias=8.0;fill=branches;f64",
    "x=2x3x5x7;max_bias=8.0;fill=least;f32,f16",
    "x=2x3x5x7;max_bias=8.0;fill=infinite;f32",
    "x=1x1x3x9",
    "x=2x2x4x7;max_bias=4.0",
    "x=2x6x5x31;n_past=26;fill=wide",
    "x=3x4x5x32;max_bias=16.0;layout=transposed",
    "x=2x12x3x17;n_past=5;layout=permuted",
    "x=2x7x4x65;max_bias=1.0;layout=sliced",
    "x=2x3x9x4;n_past=3;layout=gapped",
    "x=5x8x2x13;max_bias=0.5;n_past=100;layout=offset",
    "x=3x5x4x63;layout=broadcast",
    "x=3x5x6;n_past=1",
    "x=2x3x4x33;fill=extreme",
    "x=2x3x4x12;fill=small",
    "x=2x3x4x12;fill=zeros;n_past=7",
    "x=2x3x4x12;fill=special",
    "x=2x9x1x1;n_past=4",
    "x=2x3x0x5",
    "x=1x33x2x257;n_past=255",
    "x=1x3x2x1031;n_past=1029;f32",
    "x=2x3x4x12;fill=negative",
    "x=1x4x128x128;fill=every",
    "x=2x3x1x2x3x5;f32;layout=permuted",
]
LAID = ["x=2x3x4x5;layout=cropped", "x=1x1x1x1;layout=offset"]
LONG, LONGEST = lengths("x={n}x1x1x2", "x=1x{n}x1x2", "x=1x1x{n}x2", "x=1x1x1x{n}")
FULL = ["x=1x3x1x12289;n_past=12288", "x=1x5x13108x3"]
