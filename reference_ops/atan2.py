"""atan2: the angle of the point (b, a), in [-π, π]; a is the ordinate.

Shapes: a and b broadcast against each other; y has the broadcast shape.
Gradient: with r = √(a² + b²), da = g (b / r) / r and db = -g (a / r) / r, each summed over the axes along which its
tensor was broadcast. The square of r is past the largest number where r is not.
At 0, 0 it is NaN (PyTorch: 0).
Kinks: the cut, a = 0 where b < 0 (a step of 2π).
Source: ISO C atan2.
PyTorch: torch.atan2. ONNX: none. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import nearest, unbroadcast

TRAITS = ("pointwise", "broadcasts", "jumps at zero")
PAIRS = True


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"b": "nonzero"}


def forward(a: Array, b: Array) -> Array:
    return np.arctan2(a, b)


def vjp(g: Array, y: Array, a: Array, b: Array) -> tuple[Array, Array]:
    r = np.hypot(a, b)
    return unbroadcast(g * (b / r) / r, a.shape), unbroadcast(-g * (a / r) / r, b.shape)


def kinks(a: Array, b: Array) -> Array:
    return nearest(np.where(b < 0, np.abs(a), np.inf), a.shape)


def torch(torch: Any, a: Any, b: Any) -> Any:
    return torch.atan2(a, b)
