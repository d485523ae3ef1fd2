"""Cases of wkv6: states that are not zero, several sequences, one token and many."""

from opproof.cases._recurrence import rows, vectors

_TENSORS = f"{vectors('k', 'v', 'r')};tf={{h}}x{{d}};{vectors('td')};state={{n}}x{{h}}x{{d}}x{{d}}"
SMOKE = [_TENSORS.format(n=2, t=4, h=3, d=5)]
STANDARD = rows(_TENSORS, "k")
FULL = [_TENSORS.format(n=1, t=130, h=1, d=4)]
