"""hypot: √(a² + b²), without overflow of the squares.

Shapes: a and b broadcast against each other; y has the broadcast shape.
Gradient: da = g a / y and db = g b / y, each summed over the axes along which its tensor was broadcast.
Kinks: a = b = 0, where 0 is taken.
Source: ISO C hypot.
PyTorch: torch.hypot. ONNX: none. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import nearest, unbroadcast

TRAITS = ("pointwise", "broadcasts")
PAIRS = True
NEIGHBOURS = ("maximum",)


def forward(a: Array, b: Array) -> Array:
    return np.hypot(a, b)


def vjp(g: Array, y: Array, a: Array, b: Array) -> tuple[Array, Array]:
    length = np.where(y == 0, 1, y)
    return unbroadcast(g * (a / length), a.shape), unbroadcast(g * (b / length), b.shape)


def kinks(a: Array, b: Array) -> Array:
    return nearest(np.hypot(a, b), a.shape)


def torch(torch: Any, a: Any, b: Any) -> Any:
    zero = (a == 0) & (b == 0)  # there PyTorch's own gradient is NaN
    return torch.where(zero, 0.0, torch.hypot(torch.where(zero, 1.0, a), b))
