"""Cases of linspace: up, down, one number, two and many, of numbers and of tensors."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths

SMOKE = ["start=0d;end=0d;steps=9", "start=3x5;end=3x5;steps=4"]
STANDARD = [
    "start=0d;end=0d;steps=1",
    "start=7,;end=7,;steps=2",
    "start=3x33;end=3x33;steps=5;layout=start:transposed",
    "start=3x33;end=3x33;steps=3;layout=end:transposed",
    "start=2x3x4;end=2x3x4;steps=6;layout=permuted",
    "start=5x31;end=5x31;steps=3;layout=sliced",
    "start=5x31;end=5x31;steps=3;layout=start:gapped,end:sliced",
    "start=4x32;end=4x32;steps=7;layout=offset",
    "start=5x7;end=5x7;steps=4;layout=start:broadcast",
    "start=5x7;end=5x7;steps=4;layout=end:broadcast,start:sliced",
    "start=9,;end=9,;steps=17;fill=wide",
    "start=9,;end=9,;steps=17;fill=offset",
    "start=9,;end=9,;steps=17;fill=extreme",
    "start=9,;end=9,;steps=5;fill=small;f32,bf16",
    "start=9,;end=9,;steps=5;fill=zeros",
    "start=66,;end=66,;steps=3;fill=special",
    "start=9,;end=9,;steps=5;needs=start",
    "start=9,;end=9,;steps=5;needs=end",
    "start=0x3;end=0x3;steps=4",
    "start=0d;end=0d;steps=1031;f16,bf16",
    "start=2,;end=2,;steps=4099",
    "start=3,;end=3,;steps=131",
]
LAID = ["start=3x5x9;end=3x5x9;steps=3;layout=cropped", "start=0d;end=0d;steps=5;layout=offset"]
ALIGNED = aligned(
    "start=64,;end=64,;steps=16",
    "start=16x64;end=16x64;steps=4",
    "start=128,;end=128,;steps=64",
    "start=32x32;end=32x32;steps=3",
    "start=16,;end=16,;steps=128",
    "start=256,;end=256,;steps=8",
    "start=48x16;end=48x16;steps=2",
)
LONG, LONGEST = lengths(
    "start={n}x1;end={n}x1;steps=2", "start=0d;end=0d;steps={n};f32", "start=1x{n};end=1x{n};steps=3"
)
FULL = ["start=12289,;end=12289,;steps=2", "start=2,;end=2,;steps=65537;f32"]
