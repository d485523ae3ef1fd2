"""Cases of rope_back: those of rope."""

from opproof.cases._rope import full, rows, smoke

SMOKE = smoke("grad")
STANDARD = rows("grad")
FULL = full("grad")
