"""div: a / b, elementwise with NumPy broadcasting.

Shapes: a and b broadcast against each other; y has the broadcast shape.
Gradient: da = g / b and db = -g (a / b) / b = -g y / b, each summed over the axes along which its tensor was broadcast.
Source: NumPy broadcasting rules; the quotient rule.
PyTorch: torch.div. ONNX: Div. ggml: ggml_div (b repeats into a).
"""

from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import rounding, unbroadcast

ANALYTIC = True
TRAITS = ("pointwise", "broadcasts", "jumps at zero")
PAIRS = True
SIGNED_ZEROS = True


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"b": "nonzero"}


def forward(a: Array, b: Array) -> Array:
    return a / b


def vjp(g: Array, y: Array, a: Array, b: Array) -> tuple[Array, Array]:
    quotient = a / b / b + rounding(y, a / b) / b  # -g y / b, as Paddle has it
    return unbroadcast(g / b, a.shape), unbroadcast(-g * quotient, b.shape)


def torch(torch: Any, a: Any, b: Any) -> Any:
    return torch.div(a, b)
