"""Cases of sort: ascending and descending, ties that keep their order, each axis, each layout."""

from opproof.cases._rows.aligned import aligned_rows
from opproof.cases._rows.laid import laid_dim
from opproof.cases._rows.long import long_dim
from opproof.cases._rows.shapes import alone_dim, wide_dim
from opproof.cases._rows.typed import typed

SMOKE = [
    "x=7x33;dim=-1",
]
STANDARD = [
    "x=9x7;dim=-1;fill=edges",
    "x=25x7;dim=-1;fill=special-rows",
    "x=7x25;dim=0;fill=special-columns",
    "x=9,;dim=0",
    "x=5x31;dim=0;descending=true;fill=wide",
    "x=3x32;dim=-1;layout=offset",
    "x=2x3x33;dim=1;layout=transposed",
    "x=2x3x4x7;dim=2;descending=true;layout=permuted",
    "x=2x3x4x7;dim=-4",
    "x=3x33;dim=-1;descending=true;layout=sliced",
    "x=4x17;dim=1;layout=gapped",
    "x=5x7x9;dim=1;layout=broadcast",
    "x=3x15;dim=-1;fill=negative",
    "x=9x15;dim=-1;fill=farther",
    "x=3x16;dim=-1;descending=true;fill=positive",
    "x=5x33;dim=-1;fill=ties",
    "x=33x5;dim=0;descending=true;fill=ties;layout=transposed",
    "x=5x66;dim=-1;descending=true;fill=zeros",
    "x=9x4;dim=0;fill=constant",
    "x=5x97;dim=-1;fill=halves",
    "x=4x1;dim=-1",
    "x=3x0;dim=-1",
    "x=3x129;dim=-1",
    "x=2x1031;dim=-1;fill=wide",
    "x=5x13;dim=-1;fill=extreme",
    "x=9x22;dim=-1;fill=special",
    "x=5x257;dim=-1;descending=true;fill=ties",
    "x=2x3x2x5x3x4;dim=3;f32;layout=permuted",
    "x=25x7;dim=-1;descending=true;fill=special-rows",
]
TYPED = typed("signed unsigned", *SMOKE, *STANDARD)
LAID = laid_dim()
ALIGNED = aligned_rows("dim=-1")
LONG, LONGEST = long_dim()
SHAPES = [
    *alone_dim(),
    *wide_dim(),
]
FULL = [
    "x=2x12289;dim=-1;f32",
    "x=65537x3;dim=-1",
]
