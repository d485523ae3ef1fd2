"""Cases of sinh: overflow on both sides (f16 has too little room for its gradient); near 0 it is a copy."""

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
]
FULL = full_elementwise()
