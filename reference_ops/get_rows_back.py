"""get_rows_back: the gradient of get_rows (embedding): each row of grad added to the row that it was read from.

Shapes: grad (*indices, n), indices any, integers in [0, num_rows); y (num_rows, n), zero where no index points.
Gradient: the rows of g at the indices. None for indices.
Source: ggml.h, ggml_get_rows_back.
PyTorch: torch.Tensor.index_add to zeros. ONNX: none. ggml: ggml_get_rows_back.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._torch import widened

SIGNATURE = "(...,n),(...); num_rows=r"
ANALYTIC = True
MULTILINEAR = True
EXACT = ("vjp",)
TRAITS = ("long sum", "indexed")
REPEATS = "forward"


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"indices": range(params["num_rows"])}


def forward(grad: Array, indices: Array, *, num_rows: int) -> Array:
    y = np.zeros((num_rows, grad.shape[-1]), dtype=grad.dtype, like=grad)
    np.add.at(y, indices, grad)
    return y


def vjp(g: Array, y: Array, grad: Array, indices: Array, *, num_rows: int) -> tuple[Array, None]:
    return g[indices], None


def torch(torch: Any, grad: Any, indices: Any, *, num_rows: int) -> Any:
    (wide,) = widened(torch, grad)
    chosen = torch.nn.functional.one_hot(indices.flatten(), num_rows).to(wide.dtype)
    return (chosen.T @ wide.reshape(indices.numel(), grad.shape[-1])).to(grad.dtype)
