"""Cases of sin: arguments up to 1e7, where argument reduction shows; near 0 it is a copy."""

from opproof.cases._rows import elementwise, full_elementwise

SMOKE = ["x=7x33"]
STANDARD = [
    *elementwise(drop=("small",)),
    "x=3x17;fill=offset;layout=sliced",
]
FULL = full_elementwise()
