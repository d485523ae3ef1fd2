"""Cases of linear_swiglu: unequal sizes around tile edges, each input laid out in turn."""

from opproof.cases._rows.linear_gated import FULL, LAID, LONG, LONGEST, WITHOUT, aligned_gates, rows
from opproof.cases._rows.shapes import of_one_row

SMOKE = ["x=7x9;gate=5x9;up=5x9"]
STANDARD = [*rows(), "x=4099x2;gate=3x2;up=3x2;fill=growing;f16,bf16"]
SHAPES = of_one_row("x=1x{k};gate={n}x{k};up={n}x{k}")
ALIGNED = aligned_gates()

__all__ = ["ALIGNED", "FULL", "LAID", "LONG", "LONGEST", "SHAPES", "SMOKE", "STANDARD", "WITHOUT"]
