"""atanh: inverse hyperbolic tangent of x, log((1 + x) / (1 - x)) / 2; infinite at ±1, NaN beyond.

Shapes: x any; y as x.
Gradient: g / (1 - x²), infinite at ±1.
Source: Abramowitz, Stegun, Handbook of Mathematical Functions (1964), 4.6.
PyTorch: torch.atanh. ONNX: Atanh. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

BEYOND = True
ANALYTIC = True
TRAITS = ("pointwise",)
NEIGHBOURS = ("tanh", "asinh")


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"x": (-1.0, 1.0)}


def forward(x: Array) -> Array:
    return np.arctanh(x)


def vjp(g: Array, y: Array, x: Array) -> Array:
    return g / ((1 - x) * (1 + x))  # type: ignore[no-any-return]


def torch(torch: Any, x: Any) -> Any:
    return torch.atanh(x)
