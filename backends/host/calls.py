"""What the process that times a backend is asked: which call, a block of it, a look at the last one's answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Stored:
    """An array as it lies: bytes of its storage, and where the elements are, in bytes."""

    storage: bytes
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int


@dataclass(frozen=True)
class Calls:
    """What to call: inputs and cotangents in two sets of values, and the results to make room for."""

    op: str
    params: dict[str, Any]
    gradient: bool
    inputs: tuple[Sequence[Stored | None], Sequence[Stored | None]]
    cotangents: tuple[Sequence[Stored | None], Sequence[Stored | None]]
    results: Sequence[tuple[str, tuple[int, ...]] | None]
    needs: Sequence[bool]


@dataclass(frozen=True)
class Look:
    """Values for the last call of a block alone, whose answer is to come back, and what its results hold until then.

    Where anything is `moved`, the calls before have the same values in other places: by so many elements of each input
    and cotangent, all but those at the ends. A few elements, or their sum, do not tell the one from the other.
    """

    inputs: Sequence[Stored | None]
    cotangents: Sequence[Stored | None]
    poison: Sequence[bytes | None]  # an element of every result
    moved: Sequence[int] = ()


@dataclass(frozen=True)
class Block:
    """So many calls in a row, caches as the calls leave them or evicted before each."""

    calls: int
    cold: bool
    look: Look | None = None  # at the last one
