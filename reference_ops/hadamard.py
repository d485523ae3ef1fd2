"""hadamard: scale H x along the last axis, H the Walsh-Hadamard matrix in Sylvester's order.

H[i, j] = (-1)^(number of bits that i and j both have); scale 1 / √n makes the transform its own inverse.
Shapes: x (..., n), n a power of two; y as x.
Gradient: scale H g, H being symmetric.
Source: Sylvester, Thoughts on inverse orthogonal matrices (1867); QuaRot, Ashkboos et al. (2024), section 3.
PyTorch: none (fast_hadamard_transform.hadamard_transform). ONNX: none. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._torch import widened

SIGNATURE = "(...,2**e<4097)"
ANALYTIC = True
MULTILINEAR = True
TRAITS = ("rowwise", "long sum")
IN_PLACE = ("x",)


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return [{"x": k, "y": k} for k in range(-len(shapes["x"]), -1)]


def forward(x: Array, *, scale: float = 1.0) -> Array:
    n, y = x.shape[-1], x
    step = 1
    while step < n:
        pairs = np.reshape(y, (*x.shape[:-1], n // (2 * step), 2, step))
        first, second = pairs[..., 0, :], pairs[..., 1, :]
        y = np.reshape(np.stack((first + second, first - second), axis=-2), x.shape)
        step *= 2
    return y * scale


def vjp(g: Array, y: Array, x: Array, *, scale: float = 1.0) -> Array:
    return forward(g, scale=scale)


def torch(torch: Any, x: Any, *, scale: float = 1.0) -> Any:
    # Bit by bit of the places: each axis of 2 times the matrix ((1, 1), (1, -1)).
    (y,) = widened(torch, x)
    if not x.shape[-1]:
        return x * scale
    bits = x.shape[-1].bit_length() - 1
    turn = torch.tensor([[1.0, 1.0], [1.0, -1.0]], dtype=y.dtype)
    y = y.reshape((*x.shape[:-1], *(2,) * bits))
    for axis in range(x.ndim - 1, x.ndim - 1 + bits):
        y = torch.tensordot(y, turn, dims=([axis], [0])).movedim(-1, axis)
    return (y.reshape(x.shape) * scale).to(x.dtype)
