"""Cases of hardmax: the first of ties, each axis, sizes past every tail of a vectorised search."""

from opproof.cases._rows.aligned import aligned_rows
from opproof.cases._rows.laid import laid_dim
from opproof.cases._rows.long import long_dim
from opproof.cases._rows.shapes import wide_dim

SMOKE = [
    "x=7x33;dim=-1",
]
STANDARD = [
    "x=25x7;dim=-1;fill=special-rows",
    "x=7x25;dim=0;fill=special-columns",
    "x=4099,;dim=0;f32",
    "x=5x31;dim=0;fill=wide",
    "x=3x32;dim=-1;layout=offset",
    "x=2x3x65;dim=1;layout=transposed",
    "x=2x3x4x7;dim=2;layout=permuted",
    "x=2x3x4x7;dim=-4",
    "x=3x33;dim=-1;fill=extreme;layout=sliced",
    "x=4x128;dim=1;layout=gapped",
    "x=5x7x9;dim=1;layout=broadcast",
    "x=5x97;dim=-1;fill=negative",
    "x=9x97;dim=-1;fill=farther",
    "x=5x66;dim=-1;fill=positive",
    "x=9x3;dim=-1;fill=ties",
    "x=9x17;dim=0;fill=ties;layout=transposed",
    "x=33x4;dim=-1;fill=zeros",
    "x=7x9x5;dim=1;fill=constant",
    "x=9x22;dim=-1;fill=special",
    "x=99x2;dim=-1;fill=special",
    "x=4x1;dim=-1",
    "x=0x3;dim=-1",
    "x=5x257;dim=-1",
    "x=3x768;dim=0",
    "x=5x1031;dim=-1",
    "x=5x4099;dim=-1;f32",
    "x=1031x3;dim=-1;layout=sliced",
    "x=5x257;dim=-1;fill=ties",
    "x=2x3x2x5x3x4;dim=3;f32;layout=permuted",
    "x=3x196613;dim=-1;f32",
]
LAID = laid_dim()
ALIGNED = aligned_rows("dim=-1")
LONG, LONGEST = long_dim()
SHAPES = [
    *wide_dim(),
]
FULL = [
    "x=2x12289;dim=-1",
    "x=65537x3;dim=-1",
]
