"""What the tables of the ONNX oracle share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

Ref: TypeAlias = Callable[..., Any]


class NotOurs(Exception):
    """A node case that our operators do not express; its text is the reason."""


def axes_of(axes: Any, rank: Any) -> Any:
    """Axes as a tuple of ints; None where none are given, which means all."""
    found = () if axes is None else tuple(int(a) for a in np.ravel(axes))
    return found if found and rank else None


def listed(dims: Any, rank: Any) -> Any:
    """All axes by number where `dims` is None."""
    return tuple(range(rank)) if dims is None else dims


def chain(ref: Ref, name: Any, xs: Any) -> Any:
    """An operator of two tensors over any number."""
    result = xs[0]
    for x in xs[1:]:
        result = ref(name, result, x)
    return result


def numbers(values: Any) -> Any:
    """Plain ints of a tensor or an attribute."""
    return [int(v) for v in np.ravel(values)]
