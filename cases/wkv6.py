"""Cases of wkv6: states that are not zero, several sequences, one token and many."""

from opproof.cases._recurrence import rows, vectors
from opproof.cases._without import RECURRENCE

_TENSORS = f"{vectors('k', 'v', 'r')};tf={{h}}x{{d}};{vectors('td')};state={{n}}x{{h}}x{{d}}x{{d}}"
SMOKE = [_TENSORS.format(n=2, t=4, h=3, d=5)]
STANDARD = [
    *rows(_TENSORS, "k"),
    "k=2x4x3x5;v=2x4x3x5;r=2x4x3x5;tf=3x5;td=2x4x3x5;state=2x3x5x5;layout=v:broadcast,r:broadcast,tf:broadcast,td:broadcast",
]
FULL = [_TENSORS.format(n=1, t=130, h=1, d=4), _TENSORS.format(n=1, t=2, h=1031, d=2)]
WITHOUT = RECURRENCE
