"""scatter_reduce: x with src[i, j, k] reduced into [i, index[i, j, k], k] for dim = 1, and likewise along other axes.

Shapes: x any, index and src alike, of the rank of x, not larger but along `dim`, integers in [0, size of dim); y as x.
reduce is "sum", "prod", "mean", "amax" or "amin"; where not include_self, x counts only where nothing is reduced into.
Gradient: of a sum g; of a mean g over the number of elements; of a product g times the product of all others; of an
extreme g, shared evenly among the elements that are equal to it. None for index.
Kinks: ties for an extreme.
Source: PyTorch's documentation of torch.Tensor.scatter_reduce_.
PyTorch: torch.scatter_reduce. ONNX: ScatterElements (reduction = mul, max or min). ggml: none.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._index import along

SIGNATURE = "(...),(...),(...)"
TRIVIAL = {"forward": ("copy",), "vjp": ("copy", "zeros")}  # of extremes and factors, where few places are named
TRAITS = ("long sum", "indexed")
REPEATS = "forward"
IN_PLACE = ("x",)
NEIGHBOURS = ("scatter_add",)
_START = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "amax": -np.inf, "amin": np.inf}
_JOIN: dict[str, Any] = {"prod": np.multiply, "amax": np.maximum, "amin": np.minimum}


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"index": range(shapes["x"][params["dim"]])}


def _rounds(x: Array, index: Array, dim: int) -> Iterator[tuple[Array, Array]]:
    """Elements of src, by their number, and where they go in x: no place twice in one round."""
    places = np.arange(x.size).reshape(x.shape)[along(index, dim)].ravel()
    order = np.argsort(places, kind="stable")
    first = np.searchsorted(places[order], places[order])
    turns = np.empty(places.size, np.int64)
    turns[order] = np.arange(places.size) - first
    by_turn = np.argsort(turns, kind="stable")
    if not places.size:
        return
    for chosen in np.split(by_turn, np.cumsum(np.bincount(turns))[:-1]):
        yield chosen, places[chosen]


def _begun(x: Array, index: Array, dim: int, reduce: str, include_self: bool) -> Array:
    """What is reduced into: x, or where it does not count the start."""
    y = np.copy(x)
    if not include_self:
        y[along(index, dim)] = _START[reduce]
    return y


def _joined(y: Array, index: Array, src: Array, dim: int, reduce: str) -> Array:
    if reduce in ("sum", "mean"):
        np.add.at(y, along(index, dim), src)
        return y
    flat, terms = np.reshape(y, (-1,)), np.reshape(src, (-1,))
    for chosen, places in _rounds(y, index, dim):
        flat[places] = _JOIN[reduce](flat[places], terms[chosen])
    return np.reshape(flat, y.shape)


def _count(x: Array, index: Array, dim: int, include_self: bool) -> Array:
    """How many elements are reduced into each place, as plain numbers; 1 where x stays."""
    count = np.ones(x.shape) if include_self else np.zeros(x.shape)
    np.add.at(count, along(index, dim), 1.0)
    return np.maximum(count, 1)


def forward(x: Array, index: Array, src: Array, *, dim: int, reduce: str, include_self: bool = True) -> Array:
    y = _joined(_begun(x, index, dim, reduce, include_self), index, src, dim, reduce)
    return y / _count(x, index, dim, include_self).astype(x.dtype) if reduce == "mean" else y


def vjp(
    g: Array, y: Array, x: Array, index: Array, src: Array, *, dim: int, reduce: str, include_self: bool = True
) -> tuple[Array, None, Array]:
    where = along(index, dim)
    if reduce == "mean":
        g = g / _count(x, index, dim, include_self).astype(g.dtype)
    if reduce in ("sum", "mean"):
        dx, dsrc = np.copy(g), g[where]
    elif reduce == "prod":
        dx, dsrc = _of_products(g, x, index, src, dim, include_self)
    else:
        best = _joined(_begun(x, index, dim, reduce, include_self), index, src, dim, reduce)
        mine = (x == best).astype(g.dtype)
        if not include_self:
            mine[where] = 0
        dx, dsrc = share_among_ties(g, best, mine, where, src)
    if not include_self:
        dx[where] = 0
    return dx, None, dsrc


def share_among_ties(g: Array, best: Array, mine: Array, where: Any, src: Array) -> tuple[Array, Array]:
    """The gradient of the extremes `best`, each shared by x where `mine` is 1 and by the elements of src like it."""
    theirs, tied = (src == best[where]).astype(g.dtype), mine.copy()
    np.add.at(tied, where, theirs)
    share = g / np.where(tied == 0, np.nan, tied)  # of NaN nothing is equal to the result
    return share * mine, share[where] * theirs


def _of_products(g: Array, x: Array, index: Array, src: Array, dim: int, include_self: bool) -> tuple[Array, Array]:
    """By the products before and behind each factor: none is divided by."""
    rounds = list(_rounds(x, index, dim))
    terms, before = np.reshape(src, (-1,)), np.zeros(src.size, dtype=g.dtype, like=g)
    behind = np.zeros(src.size, dtype=g.dtype, like=g)
    flat = np.reshape(_begun(x, index, dim, "prod", include_self), (-1,))
    for chosen, places in rounds:
        before[chosen] = flat[places]
        flat[places] = flat[places] * terms[chosen]
    rest = np.ones(x.size, dtype=g.dtype, like=g)
    for chosen, places in reversed(rounds):
        behind[chosen] = rest[places]
        rest[places] = rest[places] * terms[chosen]
    others = np.reshape(before * behind, src.shape)
    return g * np.reshape(rest, x.shape), g[along(index, dim)] * others


def kinks(x: Array, index: Array, src: Array, *, dim: int, reduce: str, include_self: bool = True) -> Array:
    if reduce not in ("amax", "amin"):
        return np.full_like(x, np.inf)
    sign = 1 if reduce == "amax" else -1
    first = np.reshape(sign * _begun(x, index, dim, reduce, include_self), (-1,))
    second = np.full(x.size, -np.inf)
    terms = np.reshape(sign * src, (-1,))
    for chosen, places in _rounds(x, index, dim):
        second[places] = np.maximum(second[places], np.minimum(first[places], terms[chosen]))
        first[places] = np.maximum(first[places], terms[chosen])
    gap = np.where(np.isfinite(first) & np.isfinite(second), first - np.where(np.isfinite(second), second, 0), np.inf)
    return np.reshape(np.where(first == second, 0, gap), x.shape)


def torch(
    torch: Any, x: Any, index: Any, src: Any, *, dim: int, reduce: str, include_self: bool = True
) -> Any:  # fmt: skip
    return torch.scatter_reduce(x, dim, index, src, reduce, include_self=include_self)
