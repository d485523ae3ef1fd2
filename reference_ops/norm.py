"""norm: the p-norm over `dim`, (sum |x|^p)^(1/p); the largest |x| for inf, the smallest for -inf, the nonzeros for 0.

Shapes: x any; y as x without `dim` (one axis, several, or all where None), or with them of size 1 where keepdim.
Gradient: g sign(x) (|x| / y)^(p - 1), 0 where y is 0; g sign(x) shared among ties for +-inf; 0 for p = 0.
Kinks: x = 0 for p <= 1, rows of zeros for p > 1, ties and zeros for +-inf.
Source: Golub, Van Loan, Matrix Computations (2013), section 2.2.1.
PyTorch: torch.linalg.vector_norm, torch.norm. ONNX: ReduceL1, ReduceL2. ggml: none.
"""

import math
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._axes import Dim, kept, left

TRIVIAL = {"vjp": ("zeros", "constant")}  # of p = 0, which is piecewise constant
TRAITS = ("rowwise", "long sum")


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return left(shapes, params["dim"], params["keepdim"])


def forward(x: Array, *, p: float = 2.0, dim: Dim = None, keepdim: bool = False) -> Array:
    size = np.abs(x)
    if math.isinf(p):
        return (np.max if p > 0 else np.min)(size, axis=dim, keepdims=keepdim)  # type: ignore[no-any-return]
    if p == 0:
        return np.sum((x != 0).astype(x.dtype), axis=dim, keepdims=keepdim)  # type: ignore[no-any-return]
    if p == 1:
        return np.sum(size, axis=dim, keepdims=keepdim)
    if p == 2:
        return np.sqrt(np.sum(x * x, axis=dim, keepdims=keepdim))  # type: ignore[no-any-return]
    return np.sum(size**p, axis=dim, keepdims=keepdim) ** (1 / p)  # type: ignore[return-value]


def vjp(g: Array, y: Array, x: Array, *, p: float = 2.0, dim: Dim = None, keepdim: bool = False) -> Array:
    size, along = np.abs(x), kept(g, x, dim)
    if math.isinf(p):
        tied = size == (np.max if p > 0 else np.min)(size, axis=dim, keepdims=True)
        return tied * np.sign(x) * (along / np.sum(tied, axis=dim, keepdims=True, dtype=x.dtype))  # type: ignore[no-any-return]
    if p == 0:
        return np.zeros_like(x)
    if p == 1:
        return along * np.sign(x)
    total = kept(y, x, dim)
    flat = (total == 0) | ((x == 0) if p < 1 else False)
    share = np.where(flat, 1, size) / np.where(flat, 1, total)
    slope = along * np.sign(x) * (share if p == 2 else share ** (p - 1))
    return np.where(flat, 0, slope)


def kinks(x: Array, *, p: float = 2.0, dim: Dim = None, keepdim: bool = False) -> Array:
    size = np.abs(x)
    if not size.size:
        return size
    if math.isinf(p):
        toward = size if p > 0 else -size
        best = np.max(toward, axis=dim, keepdims=True)
        runner_up = np.max(np.where(toward == best, -np.inf, toward), axis=dim, keepdims=True)
        tied = np.sum(toward == best, axis=dim, keepdims=True) > 1
        gap = np.where(toward == best, np.where(tied, 0, best - runner_up), best - toward)
        return np.minimum(gap, np.where(toward == best, size, np.inf))
    return size if p <= 1 else np.broadcast_to(np.max(size, axis=dim, keepdims=True), x.shape)


def torch(torch: Any, x: Any, *, p: float = 2.0, dim: Dim = None, keepdim: bool = False) -> Any:
    return torch.linalg.vector_norm(x, p, dim, keepdim)
