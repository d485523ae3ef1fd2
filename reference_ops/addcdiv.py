"""addcdiv: x + value a / b, elementwise with NumPy broadcasting.

Shapes: x, a and b broadcast against each other; y has the broadcast shape.
Gradient: dx = g, da = value g / b and db = -value g a / b², each summed over the axes along which its tensor was
broadcast.
Source: elementary.
PyTorch: torch.addcdiv. ONNX: none. ggml: none.
"""

from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import unbroadcast

ANALYTIC = True
TRAITS = ("pointwise", "broadcasts")
NEIGHBOURS = ("addcmul",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"b": "nonzero"}


def forward(x: Array, a: Array, b: Array, *, value: float = 1.0) -> Array:
    return x + value * (a / b)


def vjp(g: Array, y: Array, x: Array, a: Array, b: Array, *, value: float = 1.0) -> tuple[Array, Array, Array]:
    h = value * g / b
    return unbroadcast(g, x.shape), unbroadcast(h, a.shape), unbroadcast(-h * (a / b), b.shape)


def torch(torch: Any, x: Any, a: Any, b: Any, *, value: float = 1.0) -> Any:
    return torch.addcdiv(x, a, b, value=value)
