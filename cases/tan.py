"""Cases of tan: both sides of poles, arguments up to 1e7, where argument reduction shows."""

from opproof.cases._rows.elementwise import elementwise, full_elementwise
from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows

SMOKE = ["x=7x33"]
STANDARD = [
    *elementwise(
        drop=(
            "infinite",
            "small",
        )
    ),
    "x=3x17;fill=offset;layout=sliced",
]
LAID = laid_rows()
LONG, LONGEST = long_rows()
FULL = full_elementwise()
WITHOUT = {
    "edges": "its poles are irrational: no number is next to one",
    "infinite": "of infinity it is NaN, and so is its gradient",
}
