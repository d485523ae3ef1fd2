"""Outputs in 16 bits that the reference goes on with: an honest kernel takes them as they are stored, or as they were.

h = x + residual, the norm of h, and h itself: whoever stores h in bfloat16 reads it there again, forward and backward.
Operations are counted, so that noisy evaluations know by its number which one made such an output.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

#: What autograd keeps an output with, for its own backward.
_SAVES = ("aten.detach.default", "aten.alias.default")


@dataclass(frozen=True)
class Store:
    """One store in 16 bits: the amplitude of its rounding, which is absolute below `tiny`."""

    once: float
    tiny: float

    def of(self, noise: Any, y: Any) -> Any:
        """`y` as it is stored."""
        size = noise.torch.where((y == 0) | y.isinf(), 0.0, y.abs().clamp_min(self.tiny))
        return y + self.once * size * noise.drawn(y)


@dataclass
class Operations:
    """Those of one evaluation, without what they are made of."""

    count: int = 0
    within: bool = False  # whether one is on its way
    stores: dict[int, Store] = field(default_factory=dict)  # of outputs, by the operation that made them
    made: dict[int, int] = field(default_factory=dict)  # operations by the id of what they made
    taken: set[int] = field(default_factory=set)  # operations whose result another one took
    changed: set[int] = field(default_factory=set)  # memory that was written to later


def counted(noise: Any, func: Any, given: Iterable[Any], made: Callable[[], Any]) -> Any:
    """What an operation makes; where it is an output that others take, and noise enters, stored once.

    `unrounded` of such an output is what it was before: it is rounded where it is judged.
    """
    own = noise.operations
    if own.within:
        return made()
    own.count, own.within = own.count + 1, True
    try:
        y = made()
    finally:
        own.within = False
    if noise.exact:
        _note(own, func, list(given), y)
    elif own.count in own.stores:
        return _stored(noise, y, own.stores[own.count])
    return y


def _note(own: Operations, func: Any, given: Sequence[Any], y: Any) -> None:
    if str(func) not in _SAVES:
        own.taken.update(own.made[id(v)] for v in given if id(v) in own.made)
    if getattr(func, "_schema", None) is not None and func._schema.is_mutable:
        own.changed.update(_place(v) for v in given if _is_dense(v))
    elif _is_dense(y):
        own.made[id(y)] = own.count


def read_again(noise: Any, outputs: Sequence[Any], dtypes: Sequence[str]) -> dict[int, str]:
    """Dtypes of outputs in 16 bits that the exact evaluation went on with, by the operations that made them."""
    own = noise.operations
    found = {
        own.made.get(id(y), 0): dtype
        for y, dtype in zip(outputs, dtypes, strict=True)
        if dtype in ("f16", "bf16") and _is_dense(y) and _place(y) not in own.changed
    }
    own.made.clear()
    return {i: dtype for i, dtype in found.items() if i in own.taken}


def _is_dense(value: Any) -> bool:
    return hasattr(value, "untyped_storage") and str(value.layout) == "torch.strided"


def _place(value: Any) -> int:
    place: int = value.untyped_storage().data_ptr()
    return place


def _stored(noise: Any, y: Any, store: Store) -> Any:
    z = store.of(noise, y)
    z.unrounded = y
    return z
