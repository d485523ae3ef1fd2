"""Where an index tensor points: the index itself along one axis, every cell's own place along the others."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array


def _axis_of(dim: int, rank: int) -> int:
    """The axis, counted from the first. Raises IndexError where there is none, as PyTorch does."""
    if not -rank <= dim < rank:
        raise IndexError(f"there is no axis {dim} among {rank}")
    return dim % rank


def along(index: Array, dim: int) -> Any:
    """An index such that x[along(index, dim)] picks x[i, ..., index[i, ..., k], ..., k] (torch.gather).

    A tensor without axes has one cell, which is picked.
    """
    if not index.ndim:
        return ()
    axis = _axis_of(dim, index.ndim)
    own = np.meshgrid(*map(np.arange, index.shape), indexing="ij", sparse=True)
    return tuple(index if a == axis else place for a, place in enumerate(own))


@dataclass(frozen=True)
class Distinct:
    """Draws indices of [0, size) none of which stands twice along `dim`.

    Bytes beside them may be asked to run through `every` value, which is nothing to indices.
    """

    size: int
    dim: int = -1

    def __call__(
        self, bits: Callable[[int], NDArray[np.uint64]], shape: tuple[int, ...], *, every: bool = False
    ) -> NDArray[np.int64]:
        del every
        count, others = shape[self.dim], [n for a, n in enumerate(shape) if a != self.dim % len(shape)]
        width = max(count, self.size)
        order = np.argsort(bits(math.prod(others) * width).reshape(*others, width), axis=-1, kind="stable")
        return np.moveaxis(order[..., :count] % max(self.size, 1), -1, self.dim)

    def check(self, name: str, index: Array) -> None:
        """Raise ValueError where a place stands twice: there are too few, or slices are one in memory."""
        ordered = np.sort(index, axis=self.dim)
        if np.any(np.diff(ordered, axis=self.dim) == 0):
            raise ValueError(f"{name} names a place twice, and what is written there depends on the order")


def rows(index: Array, dim: int, rank: int) -> Any:
    """An index of whole slices along `dim` of a tensor of that rank (torch.index_select); of a number that number."""
    if not rank:
        return ()
    return (*(slice(None),) * _axis_of(dim, rank), index)


def added(shape: tuple[int, ...], where: Any, values: Array) -> Array:
    """Zeros of `shape` with `values` added at `where`, repeated places summed."""
    total = np.zeros(shape, dtype=values.dtype, like=values)
    np.add.at(total, where, values)
    return total
