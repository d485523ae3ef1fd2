"""Cases of fill: ordinary values, zero, one that rounds, infinities, every layout."""

from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows

SMOKE = [
    "x=7x33;value=1.5",
]
STANDARD = [
    "x=7x33;value=1.5;inplace=x",
    "x=3x2x65;value=-0.5;layout=transposed;inplace=x",
    "x=9,;value=-2.0",
    "x=5x31;value=0.1;layout=transposed",
    "x=3x32;value=0.0;layout=offset",
    "x=2x3x65;value=3.0;layout=permuted",
    "x=2x3x4x7;value=-1.0;layout=transposed",
    "x=3x33;value=7.0;layout=sliced",
    "x=4x128;value=2.5;layout=gapped",
    "x=5x63;value=-0.5;layout=broadcast",
    "x=3x22;value=1.0;fill=special",
    "x=3x97;value=inf",
    "x=3x99;value=-inf",
    "x=6x5;value=nan",
    "x=0d;value=2.0",
    "x=3x0;value=1.0",
    "x=2x1031;value=100.0",
    "x=3x33;value=7.0;fill=extreme",
    "x=3x33;value=-7.0;fill=negative",
    "x=2x3x1x2x3x5;value=2.5;f32;layout=permuted",
]
LAID = laid_rows("value=2.5")
LONG, LONGEST = long_rows("value=2.5")
SHAPES = [
    "x=4099,;value=2.5",
]
FULL = [
    "x=2x12289;value=1.0",
    "x=65537x3;value=-1.0",
]
WITHOUT = {"every value": "its result is one number, whatever the tensor holds"}
