"""Cases of cosh: overflow on both sides (f16 has too little room for its gradient); near 0 it is 1 in 16 bits."""

from opproof.cases._rows import elementwise, full_elementwise

SMOKE = ["x=7x33"]
STANDARD = [
    *elementwise(drop=("small", "wide", "extreme")),
    "x=5x31;fill=wide;f32,bf16",
    "x=2x3x4x7;fill=wide;layout=permuted;f32,bf16",
    "x=127,;fill=extreme;f32,bf16",
    "x=3x33;fill=extreme;layout=sliced;f32,bf16",
    "x=3x17;fill=offset;layout=sliced;f32,bf16",
    "x=5x31;fill=halves;layout=permuted",
    "x=6x11;fill=small;f32",
]
FULL = full_elementwise()
