"""Cases of logical_right_shift: both signs, every distance, none too, every kind of broadcast."""

from opproof.cases._rows.discrete import bits
from opproof.cases._rows.laid import laid_binary
from opproof.cases._rows.long import long_binary
from opproof.cases._rows.reasons import DISTANCES

SMOKE = ["a=7x33;b=7x33;f32"]
STANDARD = bits(shared=False)
LAID = laid_binary("f32")
LONG, LONGEST = long_binary(dtype="f32")
FULL = ["a=2x12289;b=12289,;f32", "a=65537x3;b=65537x1;f32"]
WITHOUT = DISTANCES
