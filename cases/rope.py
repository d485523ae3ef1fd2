"""Cases of rope: every pairing, partial rotation of tensors that are not contiguous, YaRN, factors, sections."""

from opproof.cases._rope import full, rows, smoke

SMOKE = smoke("x")
STANDARD = rows("x")
FULL = full("x")
