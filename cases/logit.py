"""Cases of logit: probabilities (the domain), about 1/2 where it changes sign; all numbers where they are clamped."""

from opproof.cases._rows.elementwise import elementwise, full_elementwise
from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows

SMOKE = ["x=7x33", "x=7x33;eps=0.125"]
STANDARD = [
    *elementwise(drop=("small", "infinite", "extreme")),
    "x=3x17;fill=offset;layout=sliced",
    "x=4x19;fill=halves;layout=transposed",
    "x=5x31;eps=0.125;fill=wide",
    "x=9x33;eps=0.0625;fill=kink;layout=transposed",
    "x=66,;eps=0.125;fill=special",
]
LAID = laid_rows()
LONG, LONGEST = long_rows()
FULL = full_elementwise()
WITHOUT = {
    "infinite": "its domain ends at 0 and 1",
    "extreme": "its domain ends at 0 and 1",
    "edges": "what lies within a rounding of eps is clamped or not as the dtype of eps has it",
}
