"""scatter: x with src[i, j, k] written at [i, index[i, j, k], k] for dim = 1, and likewise along any other axis.

Shapes: x any, index and src alike, of the rank of x, not larger but along `dim`, integers in [0, size of dim); y as x.
Where two elements would be written to one place the result is undefined: no case does that (scatter_add's do).
Gradient: dx = g with zeros where src was written; dsrc = g there. None for index.
Source: PyTorch's documentation of torch.scatter.
PyTorch: torch.scatter. ONNX: ScatterElements. ggml: ggml_set_rows (whole rows).
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._index import Distinct, along

SIGNATURE = "(...),(...),(...)"
ANALYTIC = True
MULTILINEAR = True
EXACT = ("forward", "vjp")
KINDS = ("float8", "signed", "unsigned")
NEIGHBOURS = ("scatter_add",)
IN_PLACE = ("x",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"index": Distinct(shapes["x"][params["dim"]], params["dim"])}


def forward(x: Array, index: Array, src: Array, *, dim: int) -> Array:
    y = np.zeros(x.shape, dtype=np.result_type(x, src), like=x)
    y[...] = x
    y[along(index, dim)] = src
    return y


def vjp(g: Array, y: Array, x: Array, index: Array, src: Array, *, dim: int) -> tuple[Array, None, Array]:
    dx = np.copy(g)
    dx[along(index, dim)] = 0
    return dx, None, g[along(index, dim)]


def torch(torch: Any, x: Any, index: Any, src: Any, *, dim: int) -> Any:
    return torch.scatter(x, dim, index, src)
