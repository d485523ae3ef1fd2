"""Cases of erfc: 2 on the left, on the right numbers that 1 - erf(x) has no digit of, small values."""

from opproof.cases.erf import FULL, LAID, LONG, LONGEST, SMOKE, STANDARD

__all__ = ["FULL", "LAID", "LONG", "LONGEST", "SMOKE", "STANDARD"]
