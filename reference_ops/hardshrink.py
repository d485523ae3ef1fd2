"""hardshrink: 0 where |x| <= lambd, else x.

Shapes: x any; y as x.
Gradient: 0 where |x| <= lambd, else g (so g at NaN, PyTorch 0).
Kinks: x = ±lambd (steps).
Source: PyTorch's documentation of Hardshrink; hard thresholding, Donoho, Johnstone (1994).
PyTorch: torch.nn.functional.hardshrink. ONNX: Shrink (bias = 0). ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

EXACT = ("forward", "vjp")
TRAITS = ("pointwise",)
NEIGHBOURS = ("softshrink",)


def forward(x: Array, *, lambd: float = 0.5) -> Array:
    return np.where(np.abs(x) <= lambd, 0, x)


def vjp(g: Array, y: Array, x: Array, *, lambd: float = 0.5) -> Array:
    return np.where(np.abs(x) <= lambd, 0, g)


def kinks(x: Array, *, lambd: float = 0.5) -> Array:
    return np.abs(np.abs(x) - lambd)


def torch(torch: Any, x: Any, *, lambd: float = 0.5) -> Any:
    return torch.nn.functional.hardshrink(x, lambd)
