"""diag: a matrix with x on its diagonal, or the diagonal of a matrix x.

Shapes: x (n,), y (n + |diagonal|, n + |diagonal|); or x (m, n), y the elements with j = i + diagonal.
Gradient: the diagonal of g; or a matrix of zeros with g on its diagonal.
Source: PyTorch's documentation of torch.diag.
PyTorch: torch.diag. ONNX: none. ggml: ggml_diag (of vectors, batched).
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

SIGNATURE = "(n) | (m,n)"
ANALYTIC = True
MULTILINEAR = True
EXACT = ("forward", "vjp")
KINDS = ("float8", "signed", "unsigned")


def _cells(m: int, n: int, diagonal: int) -> tuple[Array, Array]:
    """Rows and columns of the diagonal of an (m, n) matrix."""
    first = max(-diagonal, 0)
    rows = np.arange(first, max(min(m, n - diagonal), first))
    return rows, rows + diagonal


def forward(x: Array, *, diagonal: int = 0) -> Array:
    if x.ndim == 2:
        return x[_cells(x.shape[0], x.shape[1], diagonal)]
    n = x.shape[0] + abs(diagonal)
    y = np.zeros((n, n), dtype=x.dtype, like=x)
    y[_cells(n, n, diagonal)] = x
    return y


def vjp(g: Array, y: Array, x: Array, *, diagonal: int = 0) -> Array:
    if x.ndim == 1:
        return g[_cells(g.shape[0], g.shape[1], diagonal)]
    dx = np.zeros(x.shape, dtype=g.dtype, like=g)
    dx[_cells(x.shape[0], x.shape[1], diagonal)] = g
    return dx


def torch(torch: Any, x: Any, *, diagonal: int = 0) -> Any:
    return torch.diag(x, diagonal)
