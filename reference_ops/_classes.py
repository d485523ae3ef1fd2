"""What the losses over classes share: which axis holds them, and targets that are their indices."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array

#: What PyTorch ignores where nothing is said.
_IGNORED = -100


def targets(count: int, *, ignore_index: int = _IGNORED, **_: Any) -> range | Callable[..., NDArray[np.int64]]:
    """What targets are drawn from: classes, and a quarter of them a place before those that a case names.

    Not the default's -100, which no case names: without an ignored class a kernel has another path.
    """
    if ignore_index >= 0 or ignore_index == _IGNORED:
        return range(count)

    def drawn(bits: Callable[[int], NDArray[np.uint64]], shape: tuple[int, ...], **_: Any) -> NDArray[np.int64]:
        raw = (bits(math.prod(shape)) >> np.uint64(11)).astype(np.int64)
        found = np.where(raw % 4 == 1, ignore_index, raw // 4 % max(count, 1))
        found[1:2] = ignore_index
        return np.reshape(found, shape)

    return drawn


def class_axis(shape: tuple[int, ...]) -> int:
    """The axis of classes of scores of `shape`: 1, or 0 where there is no batch."""
    return min(1, len(shape) - 1)


def picked(x: Array, target: Array, ignore_index: int) -> Array:
    """The score of every target's class; of class 0 where the target is ignored."""
    axis = class_axis(x.shape)
    where = np.expand_dims(np.where(target == ignore_index, 0, target), axis)
    return np.squeeze(np.take_along_axis(x, where, axis), axis)


def hits(x: Array, target: Array, ignore_index: int) -> Array:
    """Which scores stand at their target's class, none where the target is ignored."""
    axis = class_axis(x.shape)
    classes = np.reshape(np.arange(x.shape[axis]), (-1,) + (1,) * (x.ndim - 1 - axis))
    t = np.expand_dims(target, axis)
    return (classes == t) & (t != ignore_index)  # type: ignore[no-any-return]


def used(target: Array, weight: Array | None, ignore_index: int) -> tuple[Any, Any]:
    """The weight of every target's class (1 where there are no weights), and the sum of those not ignored."""
    ignored = target == ignore_index
    if weight is None:
        return 1, target.size - int(np.sum(ignored))
    w = np.take(weight, np.where(ignored, 0, target))
    return w, np.sum(np.where(ignored, 0, w))
