"""Cases of le: ties, zeros of both signs, NaN and infinities, every kind of broadcast."""

from opproof.cases._rows.discrete import comparisons
from opproof.cases._rows.laid import laid_binary
from opproof.cases._rows.long import long_binary
from opproof.cases._rows.reasons import ITSELF
from opproof.cases._rows.typed import typed

SMOKE = ["a=7x33;b=7x33;fill=ties", "a=1x13;b=4x13;fill=signs"]
STANDARD = [
    *comparisons(),
    "a=9x33;b=9x33;fill=meet",
]
TYPED = typed("float8 signed unsigned", *SMOKE, *STANDARD)
LAID = laid_binary("fill=ties")
LONG, LONGEST = long_binary("fill=ties")
FULL = ["a=2x12289;b=12289,;fill=ties", "a=65537x3;b=65537x1;fill=ties"]
WITHOUT = ITSELF
