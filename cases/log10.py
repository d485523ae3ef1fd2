"""Cases of log10: values above 0 (the domain), around 1 where it changes sign, powers of two."""

from opproof.cases.log2 import FULL, LAID, LONG, LONGEST, SMOKE, STANDARD

__all__ = ["FULL", "LAID", "LONG", "LONGEST", "SMOKE", "STANDARD"]
