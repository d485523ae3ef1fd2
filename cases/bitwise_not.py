"""Cases of bitwise_not: integers of both signs, in every layout."""

from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows
from opproof.cases._rows.typed import typed

SMOKE = ["x=7x33;f32"]
STANDARD = [
    "x=19,;f32",
    "x=5x31;f32",
    "x=3x32;f32;layout=offset",
    "x=2x3x65;f32;layout=transposed",
    "x=2x3x4x7;f32;layout=permuted",
    "x=4x128;f32;layout=gapped",
    "x=3x33;f32;layout=sliced",
    "x=5x63;f32;layout=broadcast",
    "x=1x1x97x1;f32",
    "x=3x0;f32",
    "x=0d;f32",
    "x=5x1031;f32",
    "x=7x33;f32;inplace=x",
    "x=3x2x65;f32;layout=transposed;inplace=x",
    "x=2x3x1x2x3x5;f32;layout=permuted",
]
TYPED = typed("signed", *SMOKE, *STANDARD)
LAID = laid_rows("f32")
LONG, LONGEST = long_rows(dtype="f32")
FULL = ["x=2x12289;f32", "x=65537x3;f32"]
WITHOUT = {"negative": "every row holds integers of both signs, whatever its fill"}
