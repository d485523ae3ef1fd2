"""cross: the vector product of a and b, vectors of three numbers along `dim`.

Shapes: a and b broadcast against each other, 3 along `dim`, which counts from the last axis; y has the broadcast shape.
y_0 = a_1 b_2 - a_2 b_1, and the others by turning the places.
Gradient: da = b x g and db = g x a, each summed over the axes along which it was broadcast.
Source: Gibbs, Vector Analysis (1901), chapter 2.
PyTorch: torch.linalg.cross, torch.cross. ONNX: none. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import unbroadcast

SIGNATURE = "(...,3),(...,3)"
ANALYTIC = True
MULTILINEAR = True
TRIVIAL = {"forward": ("zeros", "constant")}  # of a vector with itself
TRAITS = ("broadcasts",)


def _product(a: Array, b: Array, dim: int) -> Array:
    (a0, a1, a2), (b0, b1, b2) = ([np.take(v, k, axis=dim) for k in range(3)] for v in (a, b))
    return np.stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], axis=dim)


def forward(a: Array, b: Array, *, dim: int = -1) -> Array:
    if not -min(a.ndim, b.ndim) <= dim < 0 or a.shape[dim] != 3 or b.shape[dim] != 3:
        raise ValueError(f"dim={dim} of {a.shape} and {b.shape} is not an axis of three numbers, from the last")
    return _product(a, b, dim)


def vjp(g: Array, y: Array, a: Array, b: Array, *, dim: int = -1) -> tuple[Array, Array]:
    return unbroadcast(_product(b, g, dim), a.shape), unbroadcast(_product(g, a, dim), b.shape)


def torch(torch: Any, a: Any, b: Any, *, dim: int = -1) -> Any:
    return torch.linalg.cross(*torch.broadcast_tensors(a, b), dim=dim)
