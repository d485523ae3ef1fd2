"""Order along an axis: the sorting permutation, and how near elements are to changing places."""

import numpy as np

from opproof.reference_ops._arrays import Array


def order(x: Array, dim: int, descending: bool) -> Array:
    """Indices that sort x along `dim`; equal elements keep their order."""
    return np.argsort(-x if descending else x, axis=dim, kind="stable")


def gaps(x: Array, dim: int) -> Array:
    """Distance of every element to the nearest other one along `dim`."""
    places = np.argsort(x, axis=dim, kind="stable")
    steps = np.diff(np.take_along_axis(x, places, axis=dim), axis=dim)
    edge = np.full_like(np.take(x, [0] if x.shape[dim] else [], axis=dim), np.inf)
    least = np.minimum(np.concatenate([edge, steps], axis=dim), np.concatenate([steps, edge], axis=dim))
    return np.take_along_axis(least, np.argsort(places, axis=dim), axis=dim)
