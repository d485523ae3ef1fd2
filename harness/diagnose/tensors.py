"""The tensors that a call is given, one by one, and the call with one of them changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from opproof.core.arrays import Array
from opproof.harness.diagnose.wrong import Wrong

#: So many explanations are named side by side; more are none.
_SEVERAL = 2
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


#: Of a tensor others to put in its place, and how the tensor that is right is said then.
Others = Callable[[Place, Array], Iterator[tuple[Array, str]]]


def right_for(w: Wrong, others: Others) -> str | None:
    """Right for one tensor changed, the first way that explains it; of two that explain as much both are named."""
    explanations: list[str] = []
    for place, v in tensors(w) if few(w) else ():
        said = next((said for other, said in others(place, v) if w.explained(**changed(w, place, other))), None)
        if said is not None:
            explanations.append(said)
    return f"{w.what} is right for {', or for '.join(explanations)}" if 0 < len(explanations) <= _SEVERAL else None


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
