"""scatter_add: x with src[i, j, k] added at [i, index[i, j, k], k] for dim = 1, and likewise along any other axis.

Shapes: x any, index and src alike, of the rank of x, not larger but along `dim`, integers in [0, size of dim); y as x.
Gradient: dx = g; dsrc = g at the place that each element was added to. None for index.
Source: PyTorch's documentation of torch.Tensor.scatter_add.
PyTorch: torch.scatter_add. ONNX: ScatterElements (reduction = add). ggml: none.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._index import along
from opproof.reference_ops._passed import of_one_sign

SIGNATURE = "(...),(...),(...)"
ANALYTIC = True
MULTILINEAR = True
EXACT = ("vjp",)
TRAITS = ("long sum", "indexed")
KINDS = ("signed", "unsigned")
NEIGHBOURS = ("scatter",)
REPEATS = "forward"
IN_PLACE = ("x",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"index": range(shapes["x"][params["dim"]])}


def forward(x: Array, index: Array, src: Array, *, dim: int) -> Array:
    y = np.zeros(x.shape, dtype=np.result_type(x, src), like=x)
    y[...] = x
    np.add.at(y, along(index, dim), src)
    return y


def vjp(g: Array, y: Array, x: Array, index: Array, src: Array, *, dim: int) -> tuple[Array, None, Array]:
    return g, None, g[along(index, dim)]


def partials(x: Array, index: Array, src: Array, *, dim: int) -> Iterator[Array]:
    return of_one_sign(lambda start, terms: forward(start, index, terms, dim=dim), x, src)


def torch(torch: Any, x: Any, index: Any, src: Any, *, dim: int) -> Any:
    return torch.scatter_add(x, dim, index, src)
