"""Cases of topk: one, several and all, largest and smallest, ties, each axis, each layout."""

from opproof.cases._rows.aligned import aligned_rows
from opproof.cases._rows.laid import laid_dim
from opproof.cases._rows.long import long_dim
from opproof.cases._rows.shapes import alone_dim, wide_dim
from opproof.cases._rows.typed import typed

SMOKE = [
    "x=7x9;k=3;dim=-1",
]
STANDARD = [
    "x=9x7;k=3;dim=-1;fill=edges",
    "x=25x7;k=3;dim=-1;fill=special-rows",
    "x=7x25;k=4;dim=0;largest=false;fill=special-columns",
    "x=9,;k=3;dim=0",
    "x=5x31;k=2;dim=0;largest=false;fill=wide",
    "x=3x32;k=32;dim=-1;layout=offset",
    "x=2x3x17;k=2;dim=1;layout=transposed",
    "x=2x3x4x7;k=3;dim=2;largest=false;layout=permuted",
    "x=2x3x4x7;k=1;dim=-4",
    "x=3x33;k=8;dim=-1;largest=false;layout=sliced",
    "x=6x8;k=7;dim=1;layout=gapped",
    "x=5x7x9;k=4;dim=1;layout=broadcast",
    "x=9x5;k=2;dim=-1;fill=negative",
    "x=9x5;k=2;dim=-1;fill=farther",
    "x=9x5;k=2;dim=-1;largest=false;fill=farther",
    "x=9x6;k=4;dim=-1;largest=false;fill=positive;layout=sliced",
    "x=5x13;k=3;dim=-1;fill=extreme",
    "x=4x1;k=1;dim=-1",
    "x=0x5;k=2;dim=-1",
    "x=3x129;k=3;dim=-1;fill=wide",
    "x=2x768;k=1;dim=-1;largest=false",
    "x=2x1031;k=9;dim=-1;fill=wide",
    "x=2x4099;k=3;dim=-1;fill=wide;f32",
    "x=130x4;k=2;dim=-1",
    "x=7x33;k=9;dim=-1;fill=ties",
    "x=33x5;k=2;dim=0;largest=false;fill=ties;layout=transposed",
    "x=6x9;k=5;dim=-1;fill=kink",
    "x=5x66;k=40;dim=-1;fill=zeros",
    "x=27x66;k=41;dim=-1;fill=wide",
    "x=5x257;k=33;dim=-1;fill=ties",
    "x=2x3x2x5x3x4;dim=3;k=2;f32;layout=permuted",
]
TYPED = typed("signed unsigned", *SMOKE, *STANDARD)
LAID = laid_dim("k=3")
ALIGNED = aligned_rows("dim=-1;k=16", "dim=-1;k=32;largest=false")
LONG, LONGEST = long_dim("k=1")
SHAPES = [
    *alone_dim("k=3"),
    *wide_dim("k=3", one=False),
    "x=3x1500;k=1100;dim=-1;f32",
    "x=2x5003;k=300;dim=-1;f32",
]
FULL = [
    "x=2x12289;k=33;dim=-1;fill=wide;f32",
    "x=65537x3;k=2;dim=-1;f32",
]
