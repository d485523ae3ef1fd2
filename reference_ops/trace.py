"""trace: the sum of a diagonal of a matrix.

Shapes: x (..., m, n); y (...), the sum of the elements with j = i + offset.
Gradient: a matrix of zeros with g on that diagonal.
Source: Golub, Van Loan, Matrix Computations (2013), section 1.1.
PyTorch: torch.trace. ONNX: none. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

SIGNATURE = "(...,m,n)"
ANALYTIC = True
MULTILINEAR = True
EXACT = ("vjp",)
TRIVIAL = {"forward": ("zeros", "constant"), "vjp": ("zeros", "constant")}  # where no diagonal is, or one number
TRAITS = ("rowwise", "long sum")


def _cells(shape: tuple[int, ...], offset: int) -> Any:
    """The diagonal as an index of the last two axes."""
    m, n = shape[-2:]
    first = max(-offset, 0)
    rows = np.arange(first, max(min(m, n - offset), first))
    return (..., rows, rows + offset)


def forward(x: Array, *, offset: int = 0) -> Array:
    return np.sum(x[_cells(x.shape, offset)], axis=-1)  # type: ignore[no-any-return]


def vjp(g: Array, y: Array, x: Array, *, offset: int = 0) -> Array:
    dx = np.zeros(x.shape, dtype=g.dtype, like=g)
    dx[_cells(x.shape, offset)] = g[..., None]
    return dx


def torch(torch: Any, x: Any, *, offset: int = 0) -> Any:
    if x.ndim == 2 and offset == 0:
        return torch.trace(x)
    return torch.diagonal(x, offset, -2, -1).sum(-1)
