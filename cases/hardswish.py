"""Cases of hardswish: below -3, between, above 3, and both kinks."""

from opproof.cases._rows.elementwise import elementwise, full_elementwise
from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows

SMOKE = ["x=7x33"]
STANDARD = [
    *elementwise(
        kinks=True,
        drop=(
            "infinite",
            "positive",
        ),
    ),
    "x=4x19;fill=halves;layout=sliced",
]
LAID = laid_rows()
LONG, LONGEST = long_rows()
FULL = full_elementwise()
WITHOUT = {"infinite": "at -inf it has two definitions, and no gradient"}
