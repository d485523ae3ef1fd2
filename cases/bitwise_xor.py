"""Cases of bitwise_xor: both signs, every bit, every kind of broadcast."""

from opproof.cases._bits import FULL, LAID, LONG, LONGEST, SMOKE, STANDARD
from opproof.cases._without import ITSELF

WITHOUT = ITSELF

__all__ = ["FULL", "LAID", "LONG", "LONGEST", "SMOKE", "STANDARD", "WITHOUT"]
