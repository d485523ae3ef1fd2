"""Cases of neg: sizes around vector widths, every layout, exact integers."""

from opproof.cases._rows import elementwise, full_elementwise

SMOKE = ["x=7x33"]
STANDARD = [
    *elementwise(),
    "x=3x17;fill=exact",
]
FULL = full_elementwise()
