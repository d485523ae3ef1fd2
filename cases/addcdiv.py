"""Cases of addcdiv: every kind of broadcast, factors of either sign, each tensor in place."""

from opproof.cases._rows.row import BETWEEN
from opproof.cases._rows.ternary import laid_ternary, long_ternary, ternary

_NAMES = ("x", "a", "b")

SMOKE = ["x=7x33;a=7x33;b=7x33;value=0.5", "x=4x3;a=4x3;b=0d"]
STANDARD = [
    *ternary(_NAMES, ("", "value=-0.5", "value=2.0")),
    "x=3x127;a=3x127;b=3x127;fill=extreme;f32",
    f"x=5x131;a=5x131;b=5x131;value={8 * BETWEEN};f16,bf16",
]
LAID = laid_ternary(_NAMES)
LONG, LONGEST = long_ternary(_NAMES)
FULL = ["x=2x12289;a=12289,;b=2x1", "x=65537x3;a=65537x3;b=0d"]
SHAPES = [
    "x=9x9;a=9x9;b=9x1",
    "x=9x1;a=9x9;b=9x9",
    "x=9x9;a=9x1;b=9x9",
]
