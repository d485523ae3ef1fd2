"""set_rows: x with the rows at the indices replaced by the rows of source.

Shapes: x (..., rows, n), source (..., m, n), indices (..., m) integers in [0, rows), whose batch axes broadcast to
those of x; y as x with y[..., indices[..., i], :] = source[..., i, :]. Where a row is named twice the last one stands;
no case does so, since kernels write in no order.
Gradient: dx = g but zero in replaced rows; dsource = g of the rows it stands in, zero where a later one overwrote it.
None for indices.
Source: ggml.h, ggml_set_rows (rows of a key-value cache).
PyTorch: torch.Tensor.index_copy (one batch). ONNX: ScatterND (one batch). ggml: ggml_set_rows.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array
from opproof.reference_ops._index import Distinct

SIGNATURE = "(...,r,n),(...,m,n),(...,m)"
ANALYTIC = True
EXACT = ("forward", "vjp")
TRAITS = ("indexed",)
KINDS = ("float8", "signed", "unsigned")
IN_PLACE = ("x",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"indices": Distinct(shapes["x"][-2])}  # kernels write in no order: no row twice in one batch


def _writers(indices: Array, shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Which row of source stands in each row of x (..., rows); -1 where none does."""
    last = np.full(shape[:-1], -1)
    spread = np.broadcast_to(indices, (*shape[:-2], indices.shape[-1]))
    batches = np.arange(math.prod(shape[:-2])).reshape(*shape[:-2], 1)
    order = np.broadcast_to(np.arange(indices.shape[-1]), spread.shape)
    # Of one shape: NumPy 2.4.6 reads past the end of what `at` would have to broadcast.
    np.maximum.at(last.reshape(-1), (batches * shape[-2] + spread).reshape(-1), order.reshape(-1))
    return last


def forward(x: Array, source: Array, indices: Array) -> Array:
    writers = _writers(indices, x.shape)
    if source.shape[-2] == 0:
        return x
    return np.where(writers[..., None] >= 0, np.take_along_axis(source, np.maximum(writers, 0)[..., None], axis=-2), x)


def vjp(g: Array, y: Array, x: Array, source: Array, indices: Array) -> tuple[Array, Array, None]:
    writers = _writers(indices, x.shape)
    spread = np.broadcast_to(indices, source.shape[:-1])
    stands = np.take_along_axis(writers, spread, axis=-1) == np.arange(source.shape[-2])
    dsource = np.where(stands[..., None], np.take_along_axis(g, spread[..., None], axis=-2), 0)
    return np.where(writers[..., None] >= 0, 0, g), dsource, None


def torch(torch: Any, x: Any, source: Any, indices: Any) -> Any:
    # By gathering what the last of equal indices brings: no scatter whose order PyTorch leaves open.
    if not source.shape[-2]:
        return x + 0
    places = indices.expand(*x.shape[:-2], indices.shape[-1])
    order = torch.arange(places.shape[-1]).expand(places.shape)
    last = torch.full(x.shape[:-1], -1, dtype=torch.int64).scatter_reduce(-1, places, order, "amax")
    rows = torch.take_along_dim(source, last.clamp(min=0).unsqueeze(-1), dim=-2)
    return torch.where((last >= 0).unsqueeze(-1), rows, x)
