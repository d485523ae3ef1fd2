"""topk: the k largest (or smallest) elements along `dim`, best first, and the places they come from.

Shapes: x any; y and indices (int64) as x with size k along `dim`. Which of several equal elements are taken, and in
which order, is left open (PyTorch names none); ONNX takes the first.
Gradient: each g to the element that it came from, zeros to the others; among equal elements in any order.
Kinks: ties.
Source: PyTorch's documentation of torch.topk.
PyTorch: torch.topk. ONNX: TopK. ggml: ggml_top_k (indices, dim = -1).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._index import added, along
from opproof.reference_ops._order import equals, gaps, order, order_with_nan

EXACT = ("forward", "vjp")
OUTPUTS = ("y", "indices")
TRAITS = ("rowwise", "ordered")
KINDS = ("signed", "unsigned")


def _best(x: Array, k: int, dim: int, largest: bool) -> Array:
    if not 0 <= k <= (x.shape[dim] if x.ndim else 1):
        raise ValueError(f"there are no {k} elements along axis {dim} of {x.shape}")
    places = order(x, dim, largest)
    return np.take(places, np.arange(k), axis=dim) if x.ndim else places


def forward(x: Array, *, k: int, dim: int = -1, largest: bool = True) -> tuple[Array, Array]:
    indices = _best(x, k, dim, largest)
    return np.take_along_axis(x, indices, axis=dim) if x.ndim else x, indices


def conventions(x: Array, *, k: int, dim: int = -1, largest: bool = True) -> Iterator[tuple[Array, Array]]:
    for indices in _bests_with_nan(x, k, dim, largest):
        yield np.take_along_axis(x, indices, axis=dim), indices


def _bests_with_nan(x: Array, k: int, dim: int, largest: bool) -> Iterator[Array]:
    """The best where NaN comes before or after all else, as the largest, the smallest, or neither."""
    for first in (False, True):
        yield np.take(order_with_nan(x, dim, largest, first=first), np.arange(k), axis=dim)


def vjp(
    g: tuple[Array, Any], y: tuple[Array, Array], x: Array, *, k: int, dim: int = -1, largest: bool = True
) -> Array:
    if not x.ndim:
        return g[0]
    return added(x.shape, along(_best(x, k, dim, largest), dim), g[0])


def kinks(x: Array, *, k: int, dim: int = -1, largest: bool = True) -> Array:
    return gaps(x, dim)


def ties(x: Array, *, k: int, dim: int = -1, largest: bool = True) -> Array:
    return equals(x, dim)


def settled(
    outputs: tuple[Array, Array], x: Array, *, k: int, dim: int = -1, largest: bool = True
) -> tuple[Array, Array]:
    """`outputs` with the indices of a row as the reference has them, where they name equal elements, none twice.

    NaN equals NaN, and may stand before or after all else.
    """
    if not x.ndim:
        return outputs
    y, indices = outputs
    named = np.where((indices >= 0) & (indices < x.shape[dim]), indices, 0)
    taken = np.take_along_axis(x, named, axis=dim)
    once = (np.diff(np.sort(named, axis=dim), axis=dim) != 0).all(axis=dim, keepdims=True)
    settled = indices
    for best in (_best(x, k, dim, largest), *_bests_with_nan(x, k, dim, largest)):
        wanted = np.take_along_axis(x, best, axis=dim)
        equal = (named == indices) & ((taken == wanted) | (np.isnan(taken) & np.isnan(wanted)))
        settled = np.where(once & equal.all(axis=dim, keepdims=True), best, settled)
    return y, settled


def torch(torch: Any, x: Any, *, k: int, dim: int = -1, largest: bool = True) -> Any:
    return torch.topk(x, k, dim, largest)
