"""What the tables from ONNX's operators to ours share: an entry called, axes read, chains, what has no translation."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

Ref: TypeAlias = Callable[..., Any]


class NotTranslatable(Exception):
    """A node case that our operators do not express; its text is the reason."""


def express(
    entry: Callable[..., Any], ref: Ref, inputs: Sequence[Any], attributes: Mapping[str, Any], outputs: int
) -> Any:
    """What the entry of a node of so many outputs gives. Raises NotOurs for an attribute or input that it knows not."""
    known = inspect.signature(entry).parameters
    given = {**attributes, "count": outputs} if "count" in known else dict(attributes)
    if not any(p.kind is p.VAR_KEYWORD for p in known.values()):
        for name in given:
            if name not in known:
                raise NotTranslatable(f"the attribute {name}")
    room = sum(p.kind is p.POSITIONAL_OR_KEYWORD for p in known.values()) - 1
    if len(inputs) > room and not any(p.kind is p.VAR_POSITIONAL for p in known.values()):
        raise NotTranslatable(f"an input after {room} others")
    return entry(ref, *inputs, **given)


def axes_of(axes: Any, rank: Any) -> Any:
    """Axes as a tuple of ints; None where none are given, which means all."""
    found = () if axes is None else tuple(int(a) for a in np.ravel(axes))
    return found if found and rank else None


def list_axes(dims: Any, rank: Any) -> Any:
    """All axes by number where `dims` is None."""
    return tuple(range(rank)) if dims is None else dims


def apply_chain(ref: Ref, name: Any, xs: Any) -> Any:
    """An operator of two tensors over any number."""
    result = xs[0]
    for x in xs[1:]:
        result = ref(name, result, x)
    return result


def to_numbers(values: Any) -> Any:
    """Plain ints of a tensor or an attribute."""
    return [int(v) for v in np.ravel(values)]
