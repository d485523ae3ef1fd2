"""Cases of soft_max_back: scales that matter, rows that do not add up to 1."""

from opproof.cases._rows.aligned import aligned_pairs
from opproof.cases._rows.backward import full, rows
from opproof.cases._rows.laid import laid_pairs
from opproof.cases._rows.long import long_pairs

SMOKE = ["grad=7x33;y=7x33;scale=0.5"]
STANDARD = [
    *rows("grad", "y", ("", "scale=0.125", "scale=-2.5"), drop=("offset",)),
    "grad=4x9;y=4x9;fill=offset",
    "grad=5x9;y=5x9;needs=y",
    "grad=2x1031;y=2x1031;bf16",
]
LAID = laid_pairs("grad", "y", "scale=0.5")
ALIGNED = aligned_pairs("grad", "y", "scale=0.5")
LONG, LONGEST = long_pairs("grad", "y", "scale=0.5")
SHAPES = [
    "grad=1031x67;y=1031x67;scale=0.5;f32",
]
FULL = full("grad", "y")
