"""Cases of bitwise_and: both signs, every bit, every kind of broadcast."""

from opproof.cases._bits import FULL, LAID, LONG, LONGEST, SMOKE, STANDARD
from opproof.cases._typed import typed
from opproof.cases._without import COPY

TYPED = typed("signed unsigned", *SMOKE, *STANDARD)
WITHOUT = COPY

__all__ = ["FULL", "LAID", "LONG", "LONGEST", "SMOKE", "STANDARD", "TYPED", "WITHOUT"]
