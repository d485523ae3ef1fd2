"""Cases of all_gather: each axis, few processes and many, every layout."""

from itertools import cycle

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import Limit, lengths
from opproof.cases._rows.row import join

_CALLS = ("dim=0", "dim=1", "dim=-1")
_ROWS = (
    "x=4x3x31;layout=transposed;fill=wide",
    "x=3x2x65;layout=permuted",
    "x=2x5x33;layout=sliced",
    "x=4x2x128;layout=gapped",
    "x=3x2x63;layout=broadcast",
    "x=4x4x32;layout=offset",
    "x=1x3x9",
    "x=2x1x1",
    "x=7x3x11;fill=small",
    "x=5x2x11;fill=positive",
    "x=5x2x11;fill=negative",
    "x=3x3x11;fill=offset;f32,f16",
    "x=3x2x11;fill=zeros",
    "x=3x5x97;fill=extreme;f32,bf16",
    "x=5x3x66;fill=special",
    "x=3x2x0",
    "x=2x2x1031",
    "x=33x1x5",
    "x=3x3x257",
)

SMOKE = [join("x=3x2x33", _CALLS[0])]
STANDARD = [
    "x=2x4099x2;f32",
    "x=3x3x3;dim=1",
    *(join("x=2x4x9", call) for call in _CALLS),
    *(join(row, call) for row, call in zip(_ROWS, cycle(_CALLS))),
    *(join(row, call) for row, call in zip(_ROWS, cycle((*_CALLS[1:], _CALLS[0])))),
    *(join("x=3x2x5;fill=exact", call) for call in _CALLS),
]
LAID = [join("x=2x3x5;layout=cropped", _CALLS[0]), join("x=1x1x2;layout=offset", _CALLS[1])]
ALIGNED = aligned(
    *(
        join(row, call)
        for row, call in zip(
            ("x=16x16x64", "x=4x16x128", "x=4x32x64", "x=2x16x256", "x=16x1x64", "x=4x16x16", "x=4x16x32", "x=2x64x64"),
            cycle(_CALLS),
        )
    )
)
LONG, LONGEST = lengths("x=2x{n}x1", "x=2x1x{n};dim=1")
FULL = ["x=2x12289x2", "x=2x2x65537;dim=1"]
SHORT = {"x.0": Limit(0, "every process gets what all of them hold")}
