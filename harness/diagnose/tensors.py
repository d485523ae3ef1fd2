"""The tensors that a call is given, one by one, and the call with one of them changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from opproof.harness.diagnose.wrong import Wrong
from opproof.vocabulary.arrays import Array

#: So many explanations are named side by side; more are none.
SEVERAL = 2
#: Values that a tensor has at least, where it tells a function: of fewer, another function does the same.
DISTINCT = 4

#: Elements of a call that is evaluated again for every change that there is.
_SMALL = 2**14


@dataclass(frozen=True)
class Place:
    """Which tensor of a call it is."""

    kind: str  # "inputs" or "cotangents"
    which: int
    name: str


def tensors(w: Wrong) -> Iterator[tuple[Place, Array]]:
    """Every input that is there, and every cotangent."""
    for i, (name, v) in enumerate(zip(w.names, w.inputs, strict=True)):
        if v is not None:
            yield Place("inputs", i, str(name)), v
    for i, g in enumerate(w.cotangents):
        if g is not None:
            yield Place("cotangents", i, "the cotangent"), g


def few(w: Wrong) -> bool:
    """Whether the call is so small that it can be evaluated a hundred times."""
    return w.got.size + sum(v.size for _, v in tensors(w)) <= _SMALL


def changed(w: Wrong, place: Place, other: Array | None) -> dict[str, Any]:
    """The inputs, or the cotangents, with one of them changed; as `Wrong.again` takes them."""
    values: list[Array | None] = [*w.inputs] if place.kind == "inputs" else [*w.cotangents]
    values[place.which] = other
    return {place.kind: values}
