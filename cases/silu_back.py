"""Cases of silu_back."""

from opproof.cases._rows.backward import full, rows
from opproof.cases._rows.laid import laid_pairs
from opproof.cases._rows.long import long_pairs

SMOKE = ["grad=7x33;x=7x33"]
STANDARD = [
    *rows("grad", "x", drop=("extreme", "offset")),
    "grad=4x9;x=4x9;fill=offset;f32",
    "grad=5x9;x=5x9;needs=x",
    "grad=15,;x=15,;fill=candle-2114",
    "grad=66,;x=66,;fill=special",
]
LAID = laid_pairs("grad", "x")
LONG, LONGEST = long_pairs("grad", "x")
FULL = full("grad", "x")
