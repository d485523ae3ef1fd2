"""diff: differences of neighbours along `dim`, of these again, and so on n times.

Shapes: x any; y as x, n elements less along `dim`, or none left.
Gradient: the transposed differences, n times: the element before g minus the one at its place, zeros beyond the ends.
Source: PyTorch's documentation of torch.diff.
PyTorch: torch.diff. ONNX: none. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

ANALYTIC = True
MULTILINEAR = True


def _differences(x: Array) -> Array:
    return x[..., 1:] - x[..., :-1]


def forward(x: Array, *, n: int = 1, dim: int = -1) -> Array:
    y = np.moveaxis(x, dim, -1)
    for _ in range(min(n, x.shape[dim])):
        y = _differences(y)
    return np.moveaxis(y, -1, dim)


def vjp(g: Array, y: Array, x: Array, *, n: int = 1, dim: int = -1) -> Array:
    dx = np.moveaxis(g, dim, -1)
    for _ in range(min(n, x.shape[dim])):
        dx = -_differences(np.pad(dx, [(0, 0)] * (dx.ndim - 1) + [(1, 1)]))
    return np.moveaxis(dx[..., : x.shape[dim]], -1, dim)


def torch(torch: Any, x: Any, *, n: int = 1, dim: int = -1) -> Any:
    return torch.diff(x, n, dim)
