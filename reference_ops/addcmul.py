"""addcmul: x + value a b, elementwise with NumPy broadcasting.

Shapes: x, a and b broadcast against each other; y has the broadcast shape.
Gradient: dx = g, da = value g b and db = value g a, each summed over the axes along which its tensor was broadcast.
Source: elementary.
PyTorch: torch.addcmul. ONNX: none. ggml: none.
"""

from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import unbroadcast

ANALYTIC = True
MULTILINEAR = True
TRAITS = ("pointwise", "broadcasts")
NEIGHBOURS = ("addcdiv",)


def forward(x: Array, a: Array, b: Array, *, value: float = 1.0) -> Array:
    return x + value * (a * b)


def vjp(g: Array, y: Array, x: Array, a: Array, b: Array, *, value: float = 1.0) -> tuple[Array, Array, Array]:
    h = value * g
    return unbroadcast(g, x.shape), unbroadcast(h * b, a.shape), unbroadcast(h * a, b.shape)


def torch(torch: Any, x: Any, a: Any, b: Any, *, value: float = 1.0) -> Any:
    return torch.addcmul(x, a, b, value=value)
