"""Cases of scatter_add: repeated unsorted indices, places never named, an index smaller and longer than x."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.typed import typed

SMOKE = [
    "x=7x9;index=7x5;src=7x5;dim=1",
]
STANDARD = [
    "x=7x9;index=7x5;src=7x5;dim=1;inplace=x",
    "x=5x17;index=3x17;src=3x17;dim=0;layout=x:transposed;inplace=x",
    "x=9,;index=20,;src=20,;dim=0",
    "x=5x31;index=3x31;src=3x31;dim=0;layout=x:transposed",
    "x=5x31;index=5x40;src=5x40;dim=1;layout=index:transposed",
    "x=5x31;index=5x40;src=5x40;dim=1;layout=src:transposed",
    "x=3x32;index=3x32;src=3x32;dim=-1;layout=offset",
    "x=2x3x65;index=2x7x65;src=2x7x65;dim=1;layout=transposed",
    "x=2x3x4x7;index=2x3x5x7;src=2x3x5x7;dim=2;layout=permuted",
    "x=4x3x4x7;index=6x2x3x4;src=6x2x3x4;dim=-4",
    "x=4x9x4;index=4x5x3;src=4x5x3;dim=-2",
    "x=3x33;index=2x17;src=2x17;dim=1;layout=x:sliced",
    "x=3x33;index=3x16;src=3x16;dim=1;layout=index:sliced,src:gapped",
    "x=5x63;index=5x9;src=5x9;dim=1;layout=x:broadcast",
    "x=5x6;index=4x6;src=4x6;dim=0;layout=src:broadcast",
    "x=4x5;index=6x5;src=6x5;dim=0;needs=src",
    "x=3x22;index=3x33;src=3x33;dim=1;fill=special",
    "x=3x97;index=3x9;src=3x9;dim=1;fill=extreme",
    "x=5x3;index=5x17;src=5x17;dim=1;fill=exact",
    "x=2x3;index=65x3;src=65x3;dim=0;fill=signs;layout=x:transposed",
    "x=3x1;index=3x5;src=3x5;dim=1",
    "x=3x5;index=3x0;src=3x0;dim=1",
    "x=3x4;index=3x257;src=3x257;dim=1",
    "x=2x1031;index=2x33;src=2x33;dim=1",
    "x=7x9;index=7x5;src=7x5;dim=1;layout=x:gapped,index:broadcast,src:sliced",
    "x=7x9;index=7x5;src=7x5;dim=1;layout=index:gapped",
    "x=2x3;index=4099x3;src=4099x3;dim=0;f16,bf16",
    "x=3x1031;index=9x1031;src=9x1031;dim=0;f16,bf16",
    "x=4099x17;index=33x17;src=33x17;dim=0",
]
TYPED = typed("signed unsigned", *SMOKE, *STANDARD)
LAID = [
    "x=2x3x4;index=2x3x4;src=2x3x4;dim=1;layout=cropped",
    "x=1,;index=5,;src=5,;dim=0;layout=x:offset",
    "x=5,;index=1,;src=1,;dim=0;layout=index:offset,src:offset",
]
ALIGNED = aligned(
    "x=16x64;index=16x64;src=16x64;dim=1",
    "x=64x128;index=64x16;src=64x16;dim=1",
    "x=32x64;index=16x64;src=16x64;dim=0",
    "x=16x256;index=16x256;src=16x256;dim=0",
    "x=2x16x64;index=2x16x64;src=2x16x64;dim=2",
    "x=48x64;index=32x64;src=32x64;dim=0",
    "x=2x16x32;index=2x16x32;src=2x16x32;dim=1",
    "x=16x128;index=16x128;src=16x128;dim=-1",
)
LONG, LONGEST = lengths(
    "x={n}x2;index=3x2;src=3x2;dim=0",
    "x=2x{n};index=2x3;src=2x3;dim=1",
    "x=3x2;index={n}x2;src={n}x2;dim=0",
    "!x=2x3;index=2x{n};src=2x{n};dim=1",
    "x=1x{n};index=1x{n};src=1x{n};dim=1",
)
SHAPES = [
    "x=2x3;index=65x3;src=65x3;dim=0;fill=spread;f32",
    "x=4x4x4;index=4x4x4;src=4x4x4;dim=1",
]
FULL = [
    "x=2x12289;index=2x5;src=2x5;dim=1",
    "x=65537x3;index=65537x2;src=65537x2;dim=1",
]
