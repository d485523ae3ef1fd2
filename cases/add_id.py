"""Cases of add_id: experts chosen by nobody and by many, each input laid out in turn."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths

SMOKE = [
    "a=3x2x7;b=4x7;ids=3x2",
]
STANDARD = [
    "a=3x2x33;b=4x33;ids=3x2;inplace=a",
    "a=3x5x17;b=4x17;ids=3x5;layout=a:gapped;inplace=a",
    "a=1x1x1;b=1x1;ids=1x1",
    "a=5x2x9;b=8x9;ids=5x2;fill=wide",
    "a=3x2x31;b=2x31;ids=3x2",
    "a=9x3x32;b=4x32;ids=9x3;layout=offset",
    "a=6x2x9;b=4x9;ids=6x2;layout=a:transposed",
    "a=6x2x9;b=4x9;ids=6x2;layout=b:transposed",
    "a=6x3x9;b=4x9;ids=6x3;layout=ids:transposed",
    "a=6x3x9;b=4x9;ids=6x3;layout=permuted",
    "a=6x3x9;b=4x9;ids=6x3;layout=ids:sliced",
    "a=6x3x9;b=4x9;ids=6x3;layout=a:gapped,b:sliced",
    "a=6x2x9;b=4x9;ids=6x2;layout=a:broadcast",
    "a=5x2x7;b=3x7;ids=5x2;needs=a",
    "a=5x2x7;b=3x7;ids=5x2;needs=b",
    "a=3x2x33;b=4x33;ids=3x2;fill=extreme",
    "a=9x2x5;b=4x5;ids=9x2;fill=zeros",
    "a=9x2x5;b=4x5;ids=9x2;fill=exact",
    "a=9x3x7;b=5x7;ids=9x3;fill=signs;layout=b:transposed",
    "a=3x2x11;b=4x11;ids=3x2;fill=special",
    "a=0x2x5;b=4x5;ids=0x2",
    "a=65x2x3;b=33x3;ids=65x2",
    "a=130x4x3;b=2x3;ids=130x4",
    "a=2x3x1031;b=2x1031;ids=2x3",
    "a=3x2x7;b=4x7;ids=3x2;layout=a:sliced,b:broadcast,ids:broadcast",
    "a=3x2x7;b=4x7;ids=3x2;layout=b:gapped,ids:gapped",
    "a=4099x1x3;b=4x3;ids=4099x1;f16,bf16",
    "a=66x1x17;b=4099x17;ids=66x1",
]
LAID = [
    "a=2x3x4;b=5x4;ids=2x3;layout=cropped",
    "a=1x1x1;b=1x1;ids=1x1;layout=offset",
    "a=1x1x5;b=3x5;ids=1x1;layout=ids:offset",
    "a=3x2x1;b=1x1;ids=3x2;layout=b:offset",
]
ALIGNED = aligned(
    "a=16x2x64;b=16x64;ids=16x2",
    "a=16x4x128;b=32x128;ids=16x4",
    "a=32x1x64;b=16x64;ids=32x1",
    "a=16x2x256;b=16x256;ids=16x2",
    "a=16x2x64;b=16x64;ids=16x2",
    "a=48x2x64;b=8x64;ids=48x2",
    "a=3x16x32;b=16x32;ids=3x16",
)
LONG, LONGEST = lengths(
    "a={n}x1x2;b=3x2;ids={n}x1", "!a=2x1x{n};b=3x{n};ids=2x1", "!a=2x1x2;b={n}x2;ids=2x1", "a=1x{n}x2;b=3x2;ids=1x{n}"
)
FULL = [
    "a=2x2x12289;b=4x12289;ids=2x2",
    "a=65537x2x3;b=8x3;ids=65537x2",
]
