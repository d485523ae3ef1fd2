"""Cases of log: values above 0 (the domain), large ones, values around 1 where it changes sign."""

from opproof.cases._rows import elementwise, full_elementwise

SMOKE = ["x=7x33"]
STANDARD = [
    *elementwise(drop=("small",)),
    "x=3x17;fill=offset;layout=sliced",
]
FULL = full_elementwise()
