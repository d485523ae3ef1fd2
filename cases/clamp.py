"""Cases of clamp: one bound, both, equal signs, bounds that the kink fill meets."""

from opproof.cases._rows.elementwise import elementwise, full_elementwise
from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows
from opproof.cases._rows.typed import typed

_PARAMS = ("min=-0.5;max=1.5", "min=0.0", "max=0.5", "min=-1.0;max=1.0", "min=None;max=-0.5", "min=0.5;max=2.0")

SMOKE = ["x=7x33;min=-0.5;max=1.5"]
STANDARD = [
    *elementwise(_PARAMS, kinks=True, drop=("positive", "negative", "small")),
    "x=6x11;min=-0.5;max=1.5;fill=positive",
    "x=2x1031;min=-9.0;max=9.0;fill=wide;f16",
    "x=6x11;min=-1.5;fill=negative;layout=transposed",
    "x=5x19;min=-0.5;max=0.5;fill=halves;layout=sliced",
    "x=6x11;min=-0.0009765625;max=0.0009765625;fill=small",
    "x=66,;min=0.5;max=-0.5;fill=special",
]
TYPED = typed(
    "float8 signed unsigned",
    "x=7x33;min=2;max=90",
    "x=4x64;min=None;max=1",
    "x=5x31;min=1;layout=transposed",
    "x=5x63;min=1;max=40;layout=broadcast",
    "x=3x0;min=0;max=5",
    *SMOKE,
    *STANDARD,
)
LAID = laid_rows("min=-0.5;max=1.5")
LONG, LONGEST = long_rows("min=-0.5;max=1.5")
FULL = full_elementwise(_PARAMS[:1])
