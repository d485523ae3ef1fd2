"""Cases of remainder: signs of both (where it differs from fmod), multiples of b."""

from opproof.cases._rows import binary, full_binary

SMOKE = ["a=7x33;b=7x33", "a=1x3;b=4x3"]
STANDARD = [
    *(row for row in binary(drop=("extreme",)) if "@a" not in row),
    "a=4x33;b=4x33;fill=halves",
    "a=2x3x9;b=3x9;fill=halves;layout=a:transposed",
    "a=3x127;b=3x127;fill=extreme;bf16",
]
FULL = full_binary()
