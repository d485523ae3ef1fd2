"""Cases of scatter: lines of one element, of several and of all, each axis, each input laid out in turn."""

from opproof.cases._rows.long import lengths
from opproof.cases._rows.typed import typed

SMOKE = [
    "x=7x9;index=7x1;src=7x1;dim=1",
]
STANDARD = [
    "x=7x9;index=7x1;src=7x1;dim=1;inplace=x",
    "x=5x17;index=1x17;src=1x17;dim=0;layout=x:transposed;inplace=x",
    "x=9,;index=1,;src=1,;dim=0",
    "x=9,;index=9,;src=9,;dim=0",
    "x=7x9;index=5x4;src=5x4;dim=0",
    "x=5x31;index=4x17;src=4x17;dim=1;layout=index:transposed,src:transposed",
    "x=2x3x7x4;index=2x3x6x3;src=2x3x6x3;dim=-2;layout=permuted",
    "x=3x65;index=3x65;src=3x65;dim=1;fill=exact",
    "x=130x9;index=129x9;src=129x9;dim=0",
    "x=5x31;index=1x31;src=1x31;dim=0;layout=x:transposed",
    "x=5x31;index=5x1;src=5x1;dim=1;layout=index:transposed",
    "x=3x32;index=3x1;src=3x1;dim=-1;layout=offset",
    "x=2x3x65;index=2x1x65;src=2x1x65;dim=1;layout=transposed",
    "x=2x3x4x7;index=2x3x1x7;src=2x3x1x7;dim=2;layout=permuted",
    "x=4x3x4x7;index=1x2x3x4;src=1x2x3x4;dim=-4",
    "x=3x33;index=1x17;src=1x17;dim=0;layout=x:sliced,index:sliced",
    "x=4x65;index=1x31;src=1x31;dim=0;layout=src:gapped",
    "x=5x7x9;index=5x1x9;src=5x1x9;dim=1;layout=x:broadcast",
    "x=5x7x9;index=4x1x6;src=4x1x6;dim=1;layout=src:sliced",
    "x=4x5;index=1x5;src=1x5;dim=0;needs=src",
    "x=4x5;index=1x5;src=1x5;dim=0;needs=x",
    "x=3x22;index=1x22;src=1x22;dim=0;fill=special",
    "x=3x97;index=1x97;src=1x97;dim=0;fill=extreme",
    "x=5x3;index=5x1;src=5x1;dim=1;fill=exact",
    "x=3x5;index=0x1;src=0x1;dim=1",
    "x=130x6;index=130x1;src=130x1;dim=1",
    "x=2x1031;index=1x1031;src=1x1031;dim=0",
    "x=5x9x4;index=3x1x4;src=3x1x4;dim=1;layout=index:broadcast,src:broadcast",
    "x=4x3x4x7;index=1x2x3x4;src=1x2x3x4;dim=-4;layout=x:gapped,index:permuted",
    "x=4x3x4x7;index=1x2x3x4;src=1x2x3x4;dim=-4;layout=index:gapped,src:sliced",
    "x=5x9x6;index=4x1x5;src=4x1x5;dim=1;layout=index:permuted",
    "x=4x3x4x7;index=1x2x3x4;src=1x2x3x4;dim=-4;layout=index:transposed",
    "x=4x3x4x7;index=1x2x3x4;src=1x2x3x4;dim=-4;layout=src:transposed",
    "x=4x3x4x7;index=1x2x3x4;src=1x2x3x4;dim=-4;layout=src:gapped",
    "x=4099x17;index=33x17;src=33x17;dim=0",
]
TYPED = typed("float8 signed unsigned", *SMOKE, *STANDARD)
LAID = [
    "x=2x3x4;index=2x3x4;src=2x3x4;dim=1;layout=cropped",
    "x=1,;index=1,;src=1,;dim=0;layout=offset",
    "x=5,;index=1,;src=1,;dim=0;layout=index:offset,src:offset",
]
LONG, LONGEST = lengths("x={n}x2;index={n}x2;src={n}x2;dim=0", "x=2x{n};index=2x{n};src=2x{n};dim=1")
SHAPES = [
    "x=4x4x4;index=4x4x4;src=4x4x4;dim=1",
]
FULL = [
    "x=2x12289;index=1x12289;src=1x12289;dim=0",
    "x=65537x3;index=65537x1;src=65537x1;dim=1",
]
