"""Two replies beside each other: whether they have the same bits, and whether rounding alone may part them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from opproof.core.arrays import Array, same_bits
from opproof.harness.check.sides.exchange import Answered

#: Of the largest element, more than rounding: it is far below, in 16 bits too.
_OTHER = 0.05


def alike(a: Sequence[Answered | None], b: Sequence[Answered | None]) -> bool:
    """Whether two replies have the same bits."""
    pairs = zip(a, b, strict=True) if len(a) == len(b) else []
    same = (x is y if x is None or y is None else same_bits(x.values, y.values) for x, y in pairs)
    return len(a) == len(b) and all(same)


def near(a: Answered | None, b: Answered | None, other: float = _OTHER) -> bool:
    """Whether rounding alone may part two tensors: by no `other` part of the largest; whole numbers in few places."""
    if a is None or b is None or a.values.shape != b.values.shape:
        return a is b
    if a.values.dtype.kind != "f":
        return bool(np.mean(a.values != b.values) <= other) if a.values.size else True
    with np.errstate(all="ignore"):
        off = np.abs(a.values - b.values) > other * _largest(a.values)
    return not bool(np.any(off & np.isfinite(a.values)))


def all_near(a: Sequence[Answered | None], b: Sequence[Answered | None], other: float = _OTHER) -> bool:
    """Whether two replies have as many tensors, and rounding alone may part each pair."""
    return len(a) == len(b) and all(near(x, y, other) for x, y in zip(a, b, strict=True))


def _largest(values: Array) -> float:
    return float(np.max(np.abs(values), where=np.isfinite(values), initial=0.0))
