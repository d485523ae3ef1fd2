"""Cases of round_half_away: halves of both signs, what is next to them, integers."""

from opproof.cases.round import FULL, LAID, LONG, LONGEST, SMOKE, STANDARD

__all__ = ["FULL", "LAID", "LONG", "LONGEST", "SMOKE", "STANDARD"]
