"""Cases of isinf: NaN, infinities and numbers side by side, in every layout."""

from opproof.cases._rows.number_classes import FULL, LAID, LONG, LONGEST, SMOKE, STANDARD, WITHOUT

__all__ = ["FULL", "LAID", "LONG", "LONGEST", "SMOKE", "STANDARD", "WITHOUT"]
