"""Cases of cdist: every p, batches that broadcast, equal rows, rows far from zero, one column and many."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths

SMOKE = ["a=5x7;b=4x7"]
STANDARD = [
    "a=27x3;b=31x3;fill=ties",
    "a=33x2;b=26x2;fill=meet;f32",
    "a=5x7;b=4x7;p=1.0",
    "a=5x7;b=4x7;p=inf",
    "a=5x7;b=4x7;p=0.0;fill=ties",
    "a=5x7;b=4x7;p=3.0;layout=a:transposed",
    "a=2x3x5x9;b=2x3x4x9;layout=permuted",
    "a=3x5x9;b=4x9;layout=b:transposed",
    "a=2x1x3x8;b=3x4x8;p=1.0;layout=transposed",
    "a=31x5;b=3x5;layout=a:sliced",
    "a=3x33;b=31x33;layout=b:sliced",
    "a=6x65;b=5x65;p=1.0;layout=gapped",
    "a=4x97;b=9x97;layout=offset",
    "a=5x7;b=4x7;layout=a:broadcast",
    "a=5x9;b=4x9;layout=b:broadcast;p=inf",
    "a=5x7;b=4x7;fill=wide",
    "a=5x7;b=4x7;fill=offset",
    "a=9x4;b=7x4;fill=extreme;f32,bf16",
    "a=9x4;b=7x4;fill=small;f32,bf16",
    "a=9x1;b=7x1;fill=kink",
    "a=9x3;b=7x3;p=1.0;fill=ties",
    "a=9x5;b=7x5;fill=special",
    "a=7x5;b=@a;p=1.0",
    "a=9x5;b=7x5;fill=zeros",
    "a=5x7;b=4x7;needs=a",
    "a=5x7;b=4x7;needs=b;p=1.0",
    "a=5x1;b=4x1",
    "a=1x5;b=1x5",
    "a=0x5;b=3x5",
    "a=3x5;b=0x5",
    "a=2x4099;b=3x4099;f32",
    "a=2x1031;b=3x1031;p=1.0;f16,bf16",
    "a=2x1031;b=3x1031;p=0.7;f16,bf16",
]
LAID = [
    "a=2x3x5;b=2x4x5;layout=cropped",
    "a=1x1;b=4x1;layout=a:offset",
    "a=4x1;b=1x1;layout=b:offset",
]
ALIGNED = aligned(
    "a=16x16;b=16x16",
    "a=32x64;b=16x64",
    "a=16x32;b=48x32;p=1.0",
    "a=2x16x16;b=2x32x16",
    "a=16x128;b=16x128;p=inf",
    "a=64x16;b=16x16",
    "a=16x48;b=16x48;p=1.0",
)
LONG, LONGEST = lengths(
    "!a={n}x1x2;b=1x2x2;p=1.0",
    "a=1x{n}x2;b=1x2x2",
    "a=1x{n}x3;b=2x3",
    "a=2x{n};b=1x{n};p=1.0",
    "a=3x2;b={n}x2",
    "!a=2x2;b={n}x1x2",
)
FULL = ["a=129x7;b=65x7"]
