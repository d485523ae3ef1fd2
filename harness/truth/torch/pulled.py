"""What depends on cotangents: of a backward that alone is linear in them, and may draw signs.

A backward evaluates parts of its forward again: exp(x - logsumexp(x)), whose argument with another sign is e^100.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from opproof.harness.truth.torch.arithmetic import Arithmetic


def pulled(tensor: Any) -> Any:
    """A tensor, marked as one that depends on cotangents."""
    tensor._pulled = True
    return tensor


def scattered(noise: Arithmetic, given: Any, made: Callable[[], Any]) -> Any:
    """What `made` gives: where nothing `given` depends on cotangents no sign is drawn, else the result does too."""
    if not any(getattr(v, "_pulled", False) for v in _tensors(given)):
        noise.scattered = False
        try:
            return made()
        finally:
            noise.scattered = True
    found = made()
    for y in _tensors(found):
        pulled(y)
    return found


def _tensors(values: Any) -> Iterator[Any]:
    if isinstance(values, Mapping):
        values = list(values.values())
    if isinstance(values, tuple | list):
        for v in values:
            yield from _tensors(v)
    elif hasattr(values, "untyped_storage"):
        yield values
