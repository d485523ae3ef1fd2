"""smooth_l1_loss: d² / (2 beta) where |d| < beta, else |d| - beta / 2, d = x - target; reduced over all elements.

Shapes: x and target alike; y () for "mean" and "sum", as x for "none".
Gradient: dx = g d / beta where |d| < beta, else g sign(d), divided by the number of elements for "mean";
dtarget = -dx.
Kinks: |d| = beta, of the second derivative only where beta > 0.
Source: Girshick, Fast R-CNN (2015), equation 3; beta as PyTorch.
PyTorch: torch.nn.functional.smooth_l1_loss. ONNX: none. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._losses import each, reduced

SIGNATURE = "(...),(...)"
TRAITS = ("rowwise", "long sum")


def forward(x: Array, target: Array, *, beta: float = 1.0, reduction: str = "mean") -> Array:
    size = np.abs(x - target)
    square = 0.5 * size * size / beta if beta > 0 else size
    return reduced(np.where(size < beta, square, size - 0.5 * beta), reduction)


def vjp(
    g: Array, y: Array, x: Array, target: Array, *, beta: float = 1.0, reduction: str = "mean"
) -> tuple[Array, Array]:
    d = x - target
    slope = d / beta if beta > 0 else d
    dx = np.where(np.abs(d) < beta, slope, np.sign(d)) * each(g, reduction, x.size)
    return dx, -dx


def kinks(x: Array, target: Array, *, beta: float = 1.0, reduction: str = "mean") -> Array:
    return np.abs(np.abs(x - target) - beta)  # type: ignore[no-any-return]


def torch(torch: Any, x: Any, target: Any, *, beta: float = 1.0, reduction: str = "mean") -> Any:
    return torch.nn.functional.smooth_l1_loss(x, target, reduction=reduction, beta=beta)
