"""Cases of nan_to_num: NaN and infinities among numbers in every layout, what stands for them of either sign."""

from opproof.cases._rows.elementwise import elementwise
from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows
from opproof.cases._rows.row import BETWEEN, join

#: NaN and infinities, in odd rows and whole tiles.
_SPECIAL = (("4x128", "layout=gapped"), ("9x63", "layout=broadcast"), ("2x257", ""), ("3x67", "layout=sliced"))
_USUAL = "posinf=60.0;neginf=-50.0"
SMOKE = [join("x=7x33;fill=special", _USUAL)]
STANDARD = [
    *elementwise((_USUAL,)),
    "x=5x31;fill=special;nan=-3.0;posinf=2.0;neginf=1.0;layout=transposed",
    f"x=66x7;fill=special;nan={BETWEEN};posinf=-{BETWEEN};neginf={BETWEEN}",
    *(join(f"x={shape};fill=special", _USUAL, rest) for shape, rest in _SPECIAL),
]
LAID = laid_rows(join(_USUAL, "fill=special"))
LONG, LONGEST = long_rows(join(_USUAL, "fill=special"))
FULL = [join(f"x={shape};fill=special", _USUAL) for shape in ("2x12289", "65537x3")]
