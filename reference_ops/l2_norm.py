"""l2_norm: x / max(|x|, eps), where |x| is the Euclidean length along `dim`.

Shapes: x any; y as x.
Gradient: (g - y sum(g y)) / |x| where |x| is more than eps, g / eps where it is not.
Kinks: rows of length eps.
Source: PyTorch's documentation of torch.nn.functional.normalize.
PyTorch: torch.nn.functional.normalize (p = 2). ONNX: LpNormalization (p = 2, no eps). ggml: ggml_l2_norm (dim = -1).
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

TRAITS = ("rowwise", "statistic", "long sum")
IN_PLACE = ("x",)


def _length(x: Array, dim: int) -> Array:
    return np.sqrt(np.sum(x * x, axis=dim, keepdims=True))  # type: ignore[no-any-return]


def forward(x: Array, *, dim: int = -1, eps: float = 1e-12) -> Array:
    return x / np.maximum(_length(x, dim), eps)


def vjp(g: Array, y: Array, x: Array, *, dim: int = -1, eps: float = 1e-12) -> Array:
    length = _length(x, dim)
    divisor = np.maximum(length, eps)
    along = np.where(length >= eps, y * np.sum(g * y, axis=dim, keepdims=True), 0)
    return (g - along) / divisor


def kinks(x: Array, *, dim: int = -1, eps: float = 1e-12) -> Array:
    return np.broadcast_to(np.abs(_length(x, dim) - eps), x.shape)


def torch(torch: Any, x: Any, *, dim: int = -1, eps: float = 1e-12) -> Any:
    return torch.nn.functional.normalize(x, 2.0, dim, eps)
