"""Cases of acos: values within ±1 (the domain), close to its ends."""

from opproof.cases._rows.elementwise import elementwise, full_elementwise
from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows

SMOKE = ["x=7x33"]
STANDARD = [
    *elementwise(drop=("infinite", "small", "extreme")),
    "x=3x17;fill=offset;layout=sliced",
    "x=3x33;layout=sliced",
    "x=2x127",
    "x=6x11;fill=small;f32",
]
LAID = laid_rows()
LONG, LONGEST = long_rows()
FULL = full_elementwise()
WITHOUT = {"infinite": "its domain ends at 1", "extreme": "its domain ends at 1"}
