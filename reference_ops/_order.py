"""Order along an axis: the sorting permutation, and how near elements are to changing places."""

import numpy as np

from opproof.core.arrays import Array


def order(x: Array, dim: int, descending: bool) -> Array:
    """Indices that sort x along `dim`; equal elements keep their order."""
    keys = -x if descending else x
    return np.argsort(keys, axis=dim, kind="stable") if x.ndim else np.zeros(x.shape, dtype=np.int64)


def order_with_nan(x: Array, dim: int, descending: bool, *, first: bool) -> Array:
    """As `order`, NaN before or behind all else."""
    if not x.ndim:
        return np.zeros(x.shape, dtype=np.int64)
    nan = np.isnan(x)
    keys = np.where(nan, 0, -x if descending else x)
    return np.lexsort((keys, ~nan if first else nan), axis=dim)


def taken(x: Array, indices: Array, dim: int) -> Array:
    """The elements of x at `indices` along `dim`; a tensor without axes is its own element."""
    return np.take_along_axis(x, indices, axis=dim) if x.ndim else x


def equals(x: Array, dim: int) -> Array:
    """A number from 0 for every group of equal elements along `dim`, the same for all of the group; as x."""
    if not x.ndim:
        return np.zeros(x.shape, dtype=np.int64)
    lines = np.moveaxis(x, dim, -1)
    places = np.argsort(lines, axis=-1, kind="stable")
    ordered = np.take_along_axis(lines, places, axis=-1)
    begins = np.ones(lines.shape, dtype=bool)
    begins[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    numbers = np.cumsum(begins).reshape(lines.shape) - 1
    return np.moveaxis(np.take_along_axis(numbers, np.argsort(places, axis=-1), axis=-1), -1, dim)


def last_records(x: Array, dim: int) -> Array:
    """Where along `dim` the largest up to and with each element stands, the last of equals; NaN is larger than all.

    Of a noisy array it is told by the exact values.
    """
    if not x.ndim:
        return np.zeros(x.shape, dtype=np.int64)
    values = np.asarray(getattr(x, "exact", x))
    nan = np.isnan(values)
    largest = np.maximum.accumulate(np.where(nan, np.inf, values), axis=dim)
    records = nan | ((values == largest) & ~np.logical_or.accumulate(nan, axis=dim))
    places = np.arange(x.shape[dim]).reshape([-1 if a == dim % x.ndim else 1 for a in range(x.ndim)])
    return np.maximum.accumulate(np.where(records, places, 0), axis=dim)


def gaps(x: Array, dim: int) -> Array:
    """Distance of every element to the nearest other one along `dim`."""
    if not x.ndim:
        return np.full_like(x, np.inf)
    places = np.argsort(x, axis=dim, kind="stable")
    steps = np.diff(np.take_along_axis(x, places, axis=dim), axis=dim)
    edge = np.full_like(np.take(x, [0] if x.shape[dim] else [], axis=dim), np.inf)
    least = np.minimum(np.concatenate([edge, steps], axis=dim), np.concatenate([steps, edge], axis=dim))
    return np.take_along_axis(least, np.argsort(places, axis=dim), axis=dim)
