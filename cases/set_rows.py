"""Cases of set_rows: rows out of order, indices shared by batches, one row written, all of them."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.mixed import NORMS, mixed
from opproof.cases._rows.typed import typed

SMOKE = ["x=7x33;source=3x33;indices=3,"]
STANDARD = [
    "x=7x33;source=3x33;indices=3,;inplace=x",
    "x=9x17;source=4x17;indices=4,;layout=x:gapped;inplace=x",
    "x=1x9;source=1x9;indices=1,",
    "x=9x5;source=3x5;indices=3,;fill=wide",
    "x=2x9x31;source=2x4x31;indices=2x4",
    "x=3x8x32;source=3x2x32;indices=1x2;layout=x:transposed",
    "x=2x3x7x4;source=2x3x2x4;indices=2x1x2;layout=permuted",
    "x=2x3x7x4;source=2x3x3x4;indices=3x3;layout=source:transposed",
    "x=2x5x9;source=2x3x9;indices=2x3;layout=indices:transposed",
    "x=9x65;source=4x65;indices=4,;layout=sliced",
    "x=9x64;source=4x64;indices=4,;layout=gapped",
    "x=9x63;source=4x63;indices=4,;layout=offset",
    "x=5x6x3;source=5x2x3;indices=5x2;layout=x:broadcast",
    "x=9x7;source=9x7;indices=9,",
    "x=9x7;source=3x7;indices=3,;needs=source",
    "x=9x7;source=3x7;indices=3,;needs=x",
    "x=12x5;source=3x5;indices=3,;fill=extreme",
    "x=12x5;source=3x5;indices=3,;fill=zeros",
    "x=12x6;source=3x6;indices=3,;fill=special",
    "x=33x1;source=5x1;indices=5,",
    "x=5x7;source=0x7;indices=0,",
    "x=130x3;source=33x3;indices=33,",
    "x=5x1031;source=2x1031;indices=2,",
    "x=7x33;source=3x33;indices=3,;layout=source:broadcast",
    "x=2x9x31;source=2x4x31;indices=2x4;layout=indices:gapped",
    "x=2x3x7x4;source=2x3x2x4;indices=2x3x2;layout=indices:permuted",
    "x=3x8x5;source=3x2x5;indices=3x2;layout=indices:broadcast",
    "x=4099x17;source=66x17;indices=66,",
]
TYPED = typed("float8 signed unsigned", *SMOKE, *STANDARD)
MIXED = mixed(
    "source",
    NORMS,
    "x=7x33;source=3x33;indices=3,",
    "x=2x9x31;source=2x4x31;indices=2x4;layout=source:transposed",
    "x=16x64;source=8x64;indices=8,;fill=wide",
    "x=9x128;source=4x128;indices=4,;fill=extreme",
    "x=9x31;source=4x31;indices=4,;fill=special",
)
LAID = [
    "x=2x5x4;source=2x3x4;indices=2x3;layout=cropped",
    "x=2x3x7x4;source=2x3x2x4;indices=2x3x2;layout=indices:cropped",
    "x=7x5;source=1x5;indices=1,;layout=indices:offset",
    "x=7x1;source=1x1;indices=1,;layout=source:offset",
    "x=1x1;source=1x1;indices=1,;layout=offset",
]
ALIGNED = aligned(
    "x=32x64;source=16x64;indices=16,",
    "x=64x128;source=16x128;indices=16,",
    "x=16x64;source=16x64;indices=16,",
    "x=32x256;source=16x256;indices=16,",
    "x=2x32x64;source=2x16x64;indices=2x16",
    "x=48x64;source=32x64;indices=32,",
    "x=2x32x32;source=2x16x32;indices=2x16",
    "x=64x64;source=48x64;indices=48,",
)
LONG, LONGEST = lengths(
    "x={n}x2;source=3x2;indices=3,",
    "!x=3x{n};source=2x{n};indices=2,",
    "x={n}x2x2;source={n}x1x2;indices={n}x1",
    "x={n}x2;source={n}x2;indices={n},",
)
FULL = ["x=5x12289;source=2x12289;indices=2,", "x=65537x3;source=300x3;indices=300,"]
