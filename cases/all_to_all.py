"""Cases of all_to_all: each axis cut and joined, few processes and many, every layout."""

from itertools import cycle

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import Limit, lengths
from opproof.cases._rows.row import join

_CALLS = ("split_dim=0;concat_dim=1", "split_dim=0;concat_dim=0", "split_dim=0;concat_dim=-1")
_ROWS = (
    "x=4x12x31;layout=transposed;fill=wide",
    "x=3x6x65;layout=permuted",
    "x=2x10x33;layout=sliced",
    "x=4x8x128;layout=gapped",
    "x=3x6x63;layout=broadcast",
    "x=4x16x32;layout=offset",
    "x=1x3x9",
    "x=2x2x1",
    "x=7x21x11;fill=small",
    "x=5x10x11;fill=positive",
    "x=5x10x11;fill=negative",
    "x=3x9x11;fill=offset;f32,f16",
    "x=3x6x11;fill=zeros",
    "x=3x15x97;fill=extreme;f32,bf16",
    "x=5x15x66;fill=special",
    "x=3x6x0",
    "x=2x4x1031",
    "x=33x33x5",
    "x=3x9x257",
)

SMOKE = [join("x=3x6x33", _CALLS[0])]
STANDARD = [
    "x=3x2x9;split_dim=1;concat_dim=0",
    "x=2x5x6;split_dim=-1;concat_dim=1;layout=transposed",
    "x=4x3x4x5;split_dim=1;concat_dim=2",
    *(join("x=2x8x9", call) for call in _CALLS),
    *(join(row, call) for row, call in zip(_ROWS, cycle(_CALLS))),
    *(join(row, call) for row, call in zip(_ROWS, cycle((*_CALLS[1:], _CALLS[0])))),
    *(join("x=3x6x5;fill=exact", call) for call in _CALLS),
]
LAID = [join("x=2x6x5;layout=cropped", _CALLS[0]), join("x=1x1x2;layout=offset", _CALLS[1])]
ALIGNED = aligned(
    *(
        join(row, call)
        for row, call in zip(
            (
                "x=16x256x64",
                "x=4x64x128",
                "x=4x128x64",
                "x=2x32x256",
                "x=16x16x64",
                "x=4x64x16",
                "x=4x64x32",
                "x=2x128x64",
            ),
            cycle(_CALLS),
        )
    )
)
LONG, LONGEST = lengths("x=1x{n}x2;split_dim=0;concat_dim=1", "x=2x2x{n};split_dim=0;concat_dim=1")
FULL = ["x=2x12290x2;split_dim=0;concat_dim=1", "x=2x2x65537;split_dim=0;concat_dim=1"]
SHORT = {
    "x.first": Limit(0, "every process holds a part for each of them"),
}
