"""Cases of wkv7: states that are not zero, several sequences, one token and many."""

from opproof.cases._rows.reasons import RECURRENCE
from opproof.cases._rows.recurrences import aligned_recurrence, long_recurrence, rows, short, vectors

_TENSORS = f"{vectors('r', 'w', 'k', 'v', 'a', 'b')};state={{n}}x{{h}}x{{d}}x{{d}}"
SMOKE = [_TENSORS.format(n=2, t=4, h=3, d=5)]
STANDARD = [
    *rows(_TENSORS, "r"),
    "r=2x4x3x5;w=2x4x3x5;k=2x4x3x5;v=2x4x3x5;a=2x4x3x5;b=2x4x3x5;state=2x3x5x5;layout=w:broadcast,k:broadcast,v:broadcast,a:broadcast,b:broadcast",
]
LAID = [
    *(f"{_TENSORS.format(n=2, t=4, h=3, d=5)};layout=cropped", f"{_TENSORS.format(n=1, t=1, h=1, d=1)};layout=offset")
]
ALIGNED = aligned_recurrence(_TENSORS)
LONG, LONGEST = long_recurrence(_TENSORS)
SHORT = short("r w k v a b")
FULL = [_TENSORS.format(n=1, t=130, h=1, d=4), _TENSORS.format(n=1, t=2, h=1031, d=2)]
WITHOUT = RECURRENCE
