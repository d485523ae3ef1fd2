"""Cases of diag_mask_inf: nothing past, much past, everything seen; wide, tall and batched."""

from opproof.cases._rows.long import lengths
from opproof.cases._rows.reasons import PLACE

SMOKE = [
    "x=5x7;n_past=0",
]
STANDARD = [
    "x=5x33;n_past=2;inplace=x",
    "x=3x5x17;n_past=1;layout=transposed;inplace=x",
    "x=2x5x9;n_past=2;fill=masked",
    "x=2x5x9;n_past=2;fill=masked-special",
    "x=7x5;n_past=0",
    "x=5x7;n_past=2;layout=transposed",
    "x=5x9;n_past=3;layout=offset",
    "x=2x3x4x7;n_past=1;layout=permuted",
    "x=2x3x7x4;n_past=0;layout=transposed",
    "x=3x6x6;n_past=0;layout=sliced",
    "x=3x6x9;n_past=2;layout=gapped",
    "x=3x6x9;n_past=1;layout=broadcast",
    "x=31x33;n_past=0",
    "x=33x32;n_past=5",
    "x=6x22;n_past=4;fill=special",
    "x=9x9;n_past=0;fill=extreme",
    "x=4x7;n_past=0;fill=exact",
    "x=1x5;n_past=2",
    "x=5x1;n_past=0",
    "x=3x0;n_past=0",
    "x=3x65;n_past=20",
    "x=2x1031;n_past=1000",
    "x=3x5x99;n_past=97;layout=sliced",
    "x=5x7;n_past=1;fill=negative",
    "x=2x3x1x2x3x5;n_past=1;f32;layout=permuted",
]
LAID = ["x=2x3x5x6;n_past=1;layout=cropped"]
LONG, LONGEST = lengths("x={n}x3;n_past=0", "x=3x{n};n_past=1000")
FULL = [
    "x=3x12289;n_past=5",
    "x=65537x3;n_past=0",
]
WITHOUT = PLACE
