"""What the losses over classes share: which axis holds them, and targets that are their indices."""

from typing import Any

import numpy as np

from opproof.vocabulary.arrays import Array


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
