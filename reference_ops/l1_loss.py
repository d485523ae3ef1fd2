"""l1_loss: |x - target|, reduced over all elements.

Shapes: x and target alike; y () for "mean" and "sum", as x for "none".
Gradient: dx = sign(x - target) g, divided by the number of elements for "mean" (0 at 0, as PyTorch);
dtarget = -dx.
Kinks: x = target.
Source: PyTorch's documentation of L1Loss.
PyTorch: torch.nn.functional.l1_loss. ONNX: none. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._losses import each, reduced

SIGNATURE = "(...),(...)"
TRAITS = ("rowwise", "long sum")


def forward(x: Array, target: Array, *, reduction: str = "mean") -> Array:
    return reduced(np.abs(x - target), reduction)


def vjp(g: Array, y: Array, x: Array, target: Array, *, reduction: str = "mean") -> tuple[Array, Array]:
    dx = np.sign(x - target) * each(g, reduction, x.size)
    return dx, -dx


def kinks(x: Array, target: Array, *, reduction: str = "mean") -> Array:
    return np.abs(x - target)  # type: ignore[no-any-return]


def torch(torch: Any, x: Any, target: Any, *, reduction: str = "mean") -> Any:
    return torch.nn.functional.l1_loss(x, target, reduction=reduction)
