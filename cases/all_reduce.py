"""Cases of all_reduce: sums and means of few processes and many, largest and least, every layout."""

from itertools import cycle

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.row import join

_CALLS = ("reduction=sum", "reduction=mean", "reduction=max", "reduction=min")
_ROWS = (
    "x=4x3x31;layout=transposed;fill=wide",
    "x=3x2x65;layout=permuted",
    "x=2x5x33;layout=sliced",
    "x=4x2x128;layout=gapped",
    "x=3x2x63;layout=broadcast",
    "x=4x4x32;layout=offset",
    "x=1x3x9",
    "x=2x1",
    "x=7x3x11;fill=small",
    "x=5x2x11;fill=positive",
    "x=5x2x11;fill=negative",
    "x=3x3x11;fill=offset;f32,f16",
    "x=3x2x11;fill=zeros",
    "x=3x5x97;fill=extreme;f32,bf16",
    "x=5x3x66;fill=special",
    "x=3x2x0",
    "x=2x2x1031",
    "x=33x5",
    "x=3x3x257",
)

SMOKE = [join("x=3x2x33", _CALLS[0])]
STANDARD = [
    *(join("x=2x4x9", call) for call in _CALLS),
    *(join(row, call) for row, call in zip(_ROWS, cycle(_CALLS))),
    *(join(row, call) for row, call in zip(_ROWS, cycle((*_CALLS[1:], _CALLS[0])))),
    "x=1031x9;f16,bf16",
    "x=4099x5;f32",
    "x=2x3x1x2x3x5;f32;layout=permuted",
    "x=257x263;f32",
]
LAID = [join("x=2x3x5;layout=cropped", _CALLS[0]), join("x=1x2;layout=offset", _CALLS[1])]
ALIGNED = aligned(
    *(
        join(row, call)
        for row, call in zip(
            ("x=16x16x64", "x=4x16x128", "x=4x32x64", "x=2x16x256", "x=16x64", "x=4x16x16", "x=4x16x32", "x=2x64x64"),
            cycle(_CALLS),
        )
    )
)
LONG, LONGEST = lengths("x={n}x2;f32", "x=2x{n}")
FULL = ["x=2x12289", "x=65537x3;f32"]
