"""Cases of cummin: each axis, every layout, ties, falling and rising rows, NaN."""

from opproof.cases.cummax import ALIGNED, FULL, LAID, LONG, LONGEST, SHAPES, SMOKE, STANDARD

__all__ = ["ALIGNED", "FULL", "LAID", "LONG", "LONGEST", "SHAPES", "SMOKE", "STANDARD"]
