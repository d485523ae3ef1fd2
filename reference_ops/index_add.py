"""index_add: x with alpha times each slice of source added to the slice along `dim` that index names for it.

Shapes: x any, index (n,) integers in [0, size of dim), source as x with size n along `dim`; y as x.
Gradient: dx = g; dsource = alpha times the slices of g that index names. None for index.
Source: PyTorch's documentation of torch.Tensor.index_add.
PyTorch: torch.index_add. ONNX: none. ggml: none.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._index import rows
from opproof.reference_ops._passed import of_one_sign

SIGNATURE = "(m,n),(i),(i,n); dim=0 | (m,n),(i),(m,i); dim=1"
ANALYTIC = True
MULTILINEAR = True
TRAITS = ("long sum", "indexed")
KINDS = ("signed", "unsigned")
REPEATS = "forward"
IN_PLACE = ("x",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"index": range(shapes["x"][params["dim"]])}


def forward(x: Array, index: Array, source: Array, *, dim: int, alpha: float = 1) -> Array:
    y = np.zeros(x.shape, dtype=np.result_type(x, source), like=x)
    y[...] = x
    np.add.at(y, rows(index, dim, x.ndim), alpha * source)
    return y


def vjp(
    g: Array, y: Array, x: Array, index: Array, source: Array, *, dim: int, alpha: float = 1
) -> tuple[Array, None, Array]:
    return g, None, alpha * g[rows(index, dim, x.ndim)]


def partials(x: Array, index: Array, source: Array, *, dim: int, alpha: float = 1) -> Iterator[Array]:
    return of_one_sign(lambda start, terms: forward(start, index, terms, dim=dim), x, alpha * source)


def torch(torch: Any, x: Any, index: Any, source: Any, *, dim: int, alpha: float = 1) -> Any:
    return torch.index_add(x, dim, index, source, alpha=alpha)
