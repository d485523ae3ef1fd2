"""Where an index tensor points: the index itself along one axis, every cell's own place along the others."""

from typing import Any

import numpy as np

from opproof.reference_ops._arrays import Array


def along(index: Array, dim: int) -> Any:
    """An index such that x[along(index, dim)] picks x[i, ..., index[i, ..., k], ..., k] (torch.gather)."""
    axis = dim % index.ndim
    own = np.meshgrid(*map(np.arange, index.shape), indexing="ij", sparse=True)
    return tuple(index if a == axis else place for a, place in enumerate(own))


def rows(index: Array, dim: int, rank: int) -> Any:
    """An index of whole slices along `dim` of a tensor of that rank (torch.index_select)."""
    return (*(slice(None),) * (dim % rank), index)


def added(shape: tuple[int, ...], where: Any, values: Array) -> Array:
    """Zeros of `shape` with `values` added at `where`, repeated places summed."""
    total = np.zeros(shape, dtype=values.dtype, like=values)
    np.add.at(total, where, values)
    return total
