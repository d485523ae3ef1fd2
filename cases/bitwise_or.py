"""Cases of bitwise_or: both signs, every bit, every kind of broadcast."""

from opproof.cases._rows.bitwise import FULL, LAID, LONG, LONGEST, SMOKE, STANDARD
from opproof.cases._rows.reasons import COPY
from opproof.cases._rows.typed import typed

TYPED = typed("signed unsigned", *SMOKE, *STANDARD)
WITHOUT = COPY

__all__ = ["FULL", "LAID", "LONG", "LONGEST", "SMOKE", "STANDARD", "TYPED", "WITHOUT"]
