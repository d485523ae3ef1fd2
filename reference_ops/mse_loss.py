"""mse_loss: (x - target)², reduced over all elements.

Shapes: x and target alike; y () for "mean" and "sum", as x for "none".
Gradient: dx = 2 (x - target) g, divided by the number of elements for "mean"; dtarget = -dx.
Source: Bishop, Pattern Recognition and Machine Learning (2006), equation 1.2.
PyTorch: torch.nn.functional.mse_loss. ONNX: none. ggml: none.
"""

from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops._losses import each, reduced

SIGNATURE = "(...),(...)"
ANALYTIC = True
TRAITS = ("rowwise", "long sum")


def forward(x: Array, target: Array, *, reduction: str = "mean") -> Array:
    d = x - target
    return reduced(d * d, reduction)


def vjp(g: Array, y: Array, x: Array, target: Array, *, reduction: str = "mean") -> tuple[Array, Array]:
    dx = 2 * (x - target) * each(g, reduction, x.size)
    return dx, -dx


def torch(torch: Any, x: Any, target: Any, *, reduction: str = "mean") -> Any:
    return torch.nn.functional.mse_loss(x, target, reduction=reduction)
