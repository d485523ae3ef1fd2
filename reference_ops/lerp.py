"""lerp: a + weight (b - a), linear interpolation, elementwise with NumPy broadcasting.

Shapes: a, b and weight broadcast against each other; y has the broadcast shape.
Gradient: da = g (1 - weight), db = g weight and dweight = g (b - a), each summed
over the axes along which its tensor was broadcast.
Source: elementary.
PyTorch: torch.lerp. ONNX: none. ggml: none.
"""

from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import unbroadcast

ANALYTIC = True
MULTILINEAR = True
TRAITS = ("pointwise", "broadcasts")


def forward(a: Array, b: Array, weight: Array) -> Array:
    return a + weight * (b - a)  # type: ignore[no-any-return]


def vjp(g: Array, y: Array, a: Array, b: Array, weight: Array) -> tuple[Array, Array, Array]:
    dweight = unbroadcast(g * (b - a), weight.shape)
    # term by term, as autograd has it: where weight is near 1, g - g weight rounds more than g (1 - weight)
    da = unbroadcast(g, a.shape) - unbroadcast(g * weight, a.shape)
    return da, unbroadcast(g * weight, b.shape), dweight


def torch(torch: Any, a: Any, b: Any, weight: Any) -> Any:
    return torch.lerp(a, b, weight)
