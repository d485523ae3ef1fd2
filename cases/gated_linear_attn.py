"""Cases of gated_linear_attn: scales that matter, states that are not zero, several sequences."""

from opproof.cases._rows.reasons import RECURRENCE
from opproof.cases._rows.recurrences import aligned_recurrence, long_recurrence, rows, short, vectors

_TENSORS = f"{vectors('k', 'v', 'q', 'gate')};state={{n}}x{{h}}x{{d}}x{{d}}"
SMOKE = [_TENSORS.format(n=2, t=4, h=3, d=5) + ";scale=0.5"]
STANDARD = [
    *rows(_TENSORS, "k", ("scale=0.125", "", "scale=-2.5")),
    "k=2x4x3x5;v=2x4x3x5;q=2x4x3x5;gate=2x4x3x5;state=2x3x5x5;scale=0.5;layout=v:broadcast,q:broadcast,gate:broadcast",
]
LAID = [
    *(
        f"{_TENSORS.format(n=2, t=4, h=3, d=5)};scale=0.5;layout=cropped",
        f"{_TENSORS.format(n=1, t=1, h=1, d=1)};scale=0.5;layout=offset",
    )
]
ALIGNED = aligned_recurrence(_TENSORS, "scale=0.5")
LONG, LONGEST = long_recurrence(_TENSORS, "scale=0.5")
SHORT = short("k v q gate")
FULL = [_TENSORS.format(n=1, t=130, h=1, d=4), _TENSORS.format(n=1, t=2, h=1031, d=2)]
WITHOUT = RECURRENCE
