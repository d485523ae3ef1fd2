"""Cases of scatter_reduce: every reduction, with and without x, places named twice and never, zeros among factors."""

from itertools import cycle

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.row import join
from opproof.cases.scatter_add import STANDARD as _ADDED

_KINDS = (
    "reduce=amax",
    "reduce=prod",
    "reduce=mean;include_self=false",
    "reduce=amin;include_self=false",
    "reduce=sum",
)


def _in_turn(rows: list[str]) -> list[str]:
    """The rows with a kind each; none of exact numbers, which a mean is not."""
    turns = cycle(_KINDS)
    return [join(row, next(turns)) for row in rows]


SMOKE = ["x=7x9;index=7x5;src=7x5;dim=1;reduce=amax", "x=7x9;index=7x5;src=7x5;dim=1;reduce=prod"]
_PLAIN = [
    row for row in _ADDED if "fill=" not in row and "4099" not in row and "1031" not in row and "needs" not in row
]
STANDARD = [
    *_in_turn(_PLAIN),
    *(f"x=5x7;index=9x7;src=9x7;dim=0;{kind}" for kind in _KINDS),
    "x=5x7;index=9x7;src=9x7;dim=0;reduce=prod;include_self=false;fill=zeros",
    "x=5x7;index=9x7;src=9x7;dim=0;reduce=prod;fill=zeros",
    "x=5x7;index=9x7;src=9x7;dim=0;reduce=amax;fill=ties",
    "x=9x1;index=65x1;src=65x1;dim=0;reduce=sum;fill=spread;f32",
    "x=5x7;index=9x7;src=9x7;dim=0;reduce=amin;fill=negative",
    "x=3x22;index=3x33;src=3x33;dim=1;reduce=amax;fill=special",
    "x=3x97;index=3x9;src=3x9;dim=1;reduce=mean;fill=extreme",
    "x=4x5;index=6x5;src=6x5;dim=0;reduce=mean;needs=src",
    "x=4x5;index=6x5;src=6x5;dim=0;reduce=prod;needs=x",
    "x=4099x17;index=33x17;src=33x17;dim=0;reduce=amax",
    "x=2x1031;index=2x33;src=2x33;dim=1;reduce=amin",
    "x=2x3;index=1031x3;src=1031x3;dim=0;reduce=mean;f16,bf16",
    "x=3x1031;index=9x1031;src=9x1031;dim=0;reduce=sum;f16,bf16",
]
LAID = [
    "x=2x3x4;index=2x3x4;src=2x3x4;dim=1;reduce=mean;layout=cropped",
    "x=1,;index=5,;src=5,;dim=0;reduce=amax;layout=x:offset",
    "x=5,;index=1,;src=1,;dim=0;reduce=amin;layout=index:offset,src:offset",
]
ALIGNED = aligned(
    "x=16x64;index=16x64;src=16x64;dim=1;reduce=amax",
    "x=64x128;index=64x16;src=64x16;dim=1;reduce=mean",
    "x=32x64;index=16x64;src=16x64;dim=0;reduce=prod",
    "x=16x256;index=16x256;src=16x256;dim=0;reduce=amin",
    "x=2x16x64;index=2x16x64;src=2x16x64;dim=2;reduce=sum",
    "x=48x64;index=32x64;src=32x64;dim=0;reduce=mean",
    "x=2x16x32;index=2x16x32;src=2x16x32;dim=1;reduce=amax",
)
LONG, LONGEST = lengths(
    "!x={n}x2;index=3x2;src=3x2;dim=0;reduce=amax",
    "x=2x{n};index=2x3;src=2x3;dim=1;reduce=prod",
    "x=3x2;index={n}x2;src={n}x2;dim=0;reduce=mean",
    "x=2x3;index=2x{n};src=2x{n};dim=1;reduce=sum",
)
FULL = ["x=2x12289;index=1x5;src=1x5;dim=1;reduce=amin", "x=65537x3;index=1x2;src=1x2;dim=1;reduce=amax"]
