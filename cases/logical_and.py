"""Cases of logical_and: zeros of both signs, NaN and infinities, every kind of broadcast."""

from opproof.cases._rows.discrete import truths
from opproof.cases._rows.laid import laid_binary
from opproof.cases._rows.long import long_binary
from opproof.cases._rows.reasons import TRUTH
from opproof.cases._rows.typed import typed

SMOKE = ["a=7x33;b=7x33;fill=signs", "a=1x13;b=4x13;fill=signs"]
STANDARD = truths()
TYPED = typed("signed unsigned", *SMOKE, *STANDARD)
LAID = laid_binary("fill=signs")
LONG, LONGEST = long_binary("fill=exact")
FULL = ["a=2x12289;b=12289,;fill=signs", "a=65537x3;b=65537x1;fill=signs"]
WITHOUT = {
    "extreme": TRUTH["extreme"],
    "given twice": "of a tensor with itself it is that tensor's truth, as of one alone",
}
