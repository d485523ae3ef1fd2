"""What a backend says of its results beforehand, and is judged by."""

from __future__ import annotations

from dataclasses import astuple, dataclass

#: Of bits: the same call may give others, and each of its answers has to be right.
VARY = "vary"
#: Of rounding: towards zero.
TRUNCATE = "truncate"


@dataclass(frozen=True)
class Declaration:
    """Of an operator, a dtype and a mode; None where it says nothing."""

    compute: str | None = None  # the lower precision in which it computes
    rounding: str | None = None  # how it stores results, where not to nearest
    bits: str | None = None  # that the same call may give others

    @classmethod
    def of(cls, words: str) -> Declaration:
        """The declaration whose text this is."""
        said = set(words.split(" and ")) - {""}
        bits = {VARY} & said
        rounding = {TRUNCATE} & said
        compute = said - bits - rounding
        return cls(*(next(iter(some), None) for some in (compute, rounding, bits)))

    def __bool__(self) -> bool:
        return any(word is not None for word in astuple(self))

    def __str__(self) -> str:
        return " and ".join(word for word in astuple(self) if word is not None)
