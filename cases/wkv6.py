"""Cases of wkv6: states that are not zero, several sequences, one token and many."""

from opproof.cases._rows.reasons import RECURRENCE
from opproof.cases._rows.recurrences import aligned_recurrence, long_recurrence, rows, short, vectors

_TENSORS = f"{vectors('k', 'v', 'r')};tf={{h}}x{{d}};{vectors('td')};state={{n}}x{{h}}x{{d}}x{{d}}"
SMOKE = [_TENSORS.format(n=2, t=4, h=3, d=5)]
STANDARD = [
    *rows(_TENSORS, "k"),
    "k=2x4x3x5;v=2x4x3x5;r=2x4x3x5;tf=3x5;td=2x4x3x5;state=2x3x5x5;layout=v:broadcast,r:broadcast,tf:broadcast,td:broadcast",
]
LAID = [
    "k=2x3x1x1;v=2x3x1x1;r=2x3x1x1;tf=1x1;td=2x3x1x1;state=2x1x1x1;layout=tf:offset",
    *(f"{_TENSORS.format(n=2, t=4, h=3, d=5)};layout=cropped", f"{_TENSORS.format(n=1, t=1, h=1, d=1)};layout=offset"),
]
ALIGNED = aligned_recurrence(_TENSORS)
LONG, LONGEST = long_recurrence(_TENSORS)
SHORT = short("k v r td", "state.2 state.3 tf.1")
FULL = [_TENSORS.format(n=1, t=130, h=1, d=4), _TENSORS.format(n=1, t=2, h=1031, d=2)]
WITHOUT = RECURRENCE
