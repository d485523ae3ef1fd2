"""embedding_bag: the rows of weight at each bag's indices, added up, averaged, or their largest elements.

Shapes: weight (rows, n), indices (bags, per_bag) integers in [0, rows), per_sample_weights as indices or none, which
only "sum" takes; y (bags, n). Rows at padding_idx are left out, of a mean also from its number; of none the result
is 0.
Gradient: g, times its weight or over the bag's number, to every row read; to the first row among the largest for "max";
of per_sample_weights the dot product of g and the row. 0 for padding_idx, None for indices.
Kinks: ties in a bag for "max".
Source: PyTorch's documentation of torch.nn.functional.embedding_bag.
PyTorch: torch.nn.functional.embedding_bag. ONNX: none. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

SIGNATURE = "(r,n),(b,p<65),(b,p)?"
TRAITS = ("long sum", "indexed")
REPEATS = "vjp"


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"indices": range(shapes["weight"][0])}


def _kept(indices: Array, padding_idx: int | None, like: Array) -> Array:
    if padding_idx is not None and not -len(like) <= padding_idx < len(like):
        raise ValueError(f"padding_idx is {padding_idx}, and there are {len(like)} rows")
    return (indices != (-1 if padding_idx is None else padding_idx)).astype(like.dtype)  # type: ignore[no-any-return]


def _shares(indices: Array, kept: Array, weights: Array | None, mode: str) -> Array:
    """What each row read is multiplied by."""
    if mode == "mean":
        return kept / np.maximum(np.sum(kept, axis=1, keepdims=True), 1)  # type: ignore[no-any-return]
    return kept if weights is None else kept * weights


def _winners(rows: Array, kept: Array) -> Array:
    """Which of a bag's rows holds the largest element of each column."""
    return np.argmax(np.where(kept[..., None] != 0, rows, -np.inf), axis=1)[:, None]  # type: ignore[no-any-return]


def forward(
    weight: Array, indices: Array, per_sample_weights: Array | None = None, *, mode: str = "mean",
    padding_idx: int | None = None,
) -> Array:  # fmt: skip
    rows, kept = weight[indices], _kept(indices, padding_idx, weight)
    if mode != "max":
        return np.sum(rows * _shares(indices, kept, per_sample_weights, mode)[..., None], axis=1)  # type: ignore[no-any-return]
    if not indices.shape[1]:
        return np.sum(rows, axis=1)  # type: ignore[no-any-return]
    best = np.take_along_axis(rows, _winners(rows, kept), axis=1)[:, 0]
    return np.where(np.any(kept != 0, axis=1)[:, None], best, 0)


def vjp(
    g: Array, y: Array, weight: Array, indices: Array, per_sample_weights: Array | None = None, *, mode: str = "mean",
    padding_idx: int | None = None,
) -> tuple[Array, None, Array | None]:  # fmt: skip
    rows, kept = weight[indices], _kept(indices, padding_idx, weight)
    if mode == "max" and indices.shape[1]:
        won = np.arange(indices.shape[1])[:, None] == _winners(rows, kept)
        shares = won * kept[..., None]
    else:
        shares = _shares(indices, kept, per_sample_weights, mode)[..., None]
    dweight = np.zeros_like(weight, dtype=g.dtype)
    np.add.at(dweight, indices, shares * g[:, None])
    if per_sample_weights is None:
        return dweight, None, None
    return dweight, None, np.sum(rows * g[:, None], axis=2) * kept


def kinks(
    weight: Array, indices: Array, per_sample_weights: Array | None = None, *, mode: str = "mean",
    padding_idx: int | None = None,
) -> Array:  # fmt: skip
    least = np.full(weight.shape, np.inf)
    if mode != "max" or indices.shape[1] < 2:
        return least
    rows = np.where(_kept(indices, padding_idx, weight)[..., None] != 0, weight[indices], -np.inf)
    order = np.sort(rows, axis=1)
    best, second = order[:, -1:], order[:, -2:-1]
    with np.errstate(invalid="ignore"):
        gap = np.where(rows == best, best - second, best - rows)
    np.minimum.at(least, indices, np.where(np.isnan(gap), np.inf, gap))
    return least


def torch(
    torch: Any, weight: Any, indices: Any, per_sample_weights: Any = None, *, mode: str = "mean",
    padding_idx: int | None = None,
) -> Any:  # fmt: skip
    function = torch.nn.functional.embedding_bag
    if not indices.numel():  # bags that hold nothing: PyTorch counts their beginnings in steps of 0
        starts = torch.zeros(len(indices), dtype=torch.int64)
        return function(indices.flatten(), weight, starts, mode=mode, padding_idx=padding_idx)
    return function(indices, weight, per_sample_weights=per_sample_weights, mode=mode, padding_idx=padding_idx)
