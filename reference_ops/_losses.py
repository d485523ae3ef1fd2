"""What the losses share: reduction over all elements, and its gradient."""

from typing import Any

import numpy as np

from opproof.core.arrays import Array


def reduced(loss: Array, reduction: str, count: Any = None) -> Array:
    """`loss` itself ("none"), its sum, or its sum divided by `count` ("mean"; all elements where None)."""
    if reduction == "none":
        return loss
    total = np.sum(loss)
    if reduction == "sum":
        return total  # type: ignore[no-any-return]
    return total / (loss.size if count is None else count)  # type: ignore[no-any-return]


def each(g: Array, reduction: str, count: Any) -> Array:
    """The cotangent that every element of the loss receives."""
    return g / count if reduction == "mean" else g
