"""asin: arc sine of x, in [-π/2, π/2]; NaN where |x| > 1.

Shapes: x any; y as x.
Gradient: g / √(1 - x²), infinite at ±1.
Source: elementary.
PyTorch: torch.asin. ONNX: Asin. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

BEYOND = True
ANALYTIC = True
TRAITS = ("pointwise",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"x": (-1.0, 1.0)}


def forward(x: Array) -> Array:
    return np.arcsin(x)


def vjp(g: Array, y: Array, x: Array) -> Array:
    return g / np.sqrt(1 - x * x)  # type: ignore[no-any-return]


def torch(torch: Any, x: Any) -> Any:
    return torch.asin(x)
