"""huber_loss: d² / 2 where |d| <= delta, else delta (|d| - delta / 2), d = x - target; reduced over all elements.

Shapes: x and target alike; y () for "mean" and "sum", as x for "none".
Gradient: dx = g d where |d| <= delta, else g delta sign(d), divided by the number of elements for "mean";
dtarget = -dx.
Kinks: |d| = delta, of the second derivative only.
Source: Huber, Robust Estimation of a Location Parameter (1964).
PyTorch: torch.nn.functional.huber_loss. ONNX: none. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._losses import each, reduced

SIGNATURE = "(...),(...)"
TRAITS = ("rowwise", "long sum")
NEIGHBOURS = ("smooth_l1_loss",)


def forward(x: Array, target: Array, *, delta: float = 1.0, reduction: str = "mean") -> Array:
    size = np.abs(x - target)
    return reduced(np.where(size <= delta, 0.5 * size * size, delta * (size - 0.5 * delta)), reduction)


def vjp(
    g: Array, y: Array, x: Array, target: Array, *, delta: float = 1.0, reduction: str = "mean"
) -> tuple[Array, Array]:
    d = x - target
    dx = np.where(np.abs(d) <= delta, d, delta * np.sign(d)) * each(g, reduction, x.size)
    return dx, -dx


def kinks(x: Array, target: Array, *, delta: float = 1.0, reduction: str = "mean") -> Array:
    return np.abs(np.abs(x - target) - delta)  # type: ignore[no-any-return]


def torch(torch: Any, x: Any, target: Any, *, delta: float = 1.0, reduction: str = "mean") -> Any:
    return torch.nn.functional.huber_loss(x, target, reduction=reduction, delta=delta)
