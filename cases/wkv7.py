"""Cases of wkv7: states that are not zero, several sequences, one token and many."""

from opproof.cases._recurrence import rows, vectors

_TENSORS = f"{vectors('r', 'w', 'k', 'v', 'a', 'b')};state={{n}}x{{h}}x{{d}}x{{d}}"
SMOKE = [_TENSORS.format(n=2, t=4, h=3, d=5)]
STANDARD = rows(_TENSORS, "r")
FULL = [_TENSORS.format(n=1, t=130, h=1, d=4)]
