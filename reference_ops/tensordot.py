"""tensordot: the sum of products over the last `axes` axes of a and the first ones of b.

Shapes: a (..., k_1, ..., k_axes), b (k_1, ..., k_axes, ...); y has the axes of a that are left, then those of b.
axes = 0 is the outer product.
Gradient: da = tensordot of g with b over the axes that b has left, db = a's with g over those of a.
Source: NumPy's documentation of numpy.tensordot.
PyTorch: torch.tensordot. ONNX: none. ggml: none. JAX: jax.numpy.tensordot.
"""

import math
from typing import Any

import numpy as np

from opproof.core.arrays import Array

SIGNATURE = "(m,k),(k,n) | (i,j,k),(j,k,n)"
ANALYTIC = True
MULTILINEAR = True
TRIVIAL = {"forward": ("zeros", "constant")}  # of products too small for the dtype, or sums too large
TRAITS = ("long sum", "multiplies")


def as_matrices(a: Array, b: Array, axes: int) -> tuple[Array, Array]:
    """Both as matrices, whose product is the result."""
    kept, summed = a.shape[: a.ndim - axes], a.shape[a.ndim - axes :]
    if not 0 <= axes <= min(a.ndim, b.ndim) or summed != b.shape[:axes]:
        raise ValueError(f"the last {axes} axes of {a.shape} are not the first of {b.shape}")
    k = math.prod(summed)
    return np.reshape(a, (math.prod(kept), k)), np.reshape(b, (k, math.prod(b.shape[axes:])))


def forward(a: Array, b: Array, *, axes: int = 2) -> Array:
    left, right = as_matrices(a, b, axes)
    return np.reshape(np.matmul(left, right), a.shape[: a.ndim - axes] + b.shape[axes:])


def vjp(g: Array, y: Array, a: Array, b: Array, *, axes: int = 2) -> tuple[Array, Array]:
    left, right = as_matrices(a, b, axes)
    flat = np.reshape(g, (left.shape[0], right.shape[1]))
    da, db = np.matmul(flat, np.swapaxes(right, 0, 1)), np.matmul(np.swapaxes(left, 0, 1), flat)
    return np.reshape(da, a.shape), np.reshape(db, b.shape)


def torch(torch: Any, a: Any, b: Any, *, axes: int = 2) -> Any:
    return torch.tensordot(a, b, axes)
