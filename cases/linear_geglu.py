"""Cases of linear_geglu: unequal sizes around tile edges, each input laid out in turn."""

from opproof.cases._linear_gated import FULL, LAID, LONG, LONGEST, WITHOUT, aligned_gates, rows

SMOKE = ["x=7x9;gate=5x9;up=5x9"]
STANDARD = rows(("", "approximate=tanh"))
ALIGNED = aligned_gates("approximate=tanh")

__all__ = ["ALIGNED", "FULL", "LAID", "LONG", "LONGEST", "SMOKE", "STANDARD", "WITHOUT"]
