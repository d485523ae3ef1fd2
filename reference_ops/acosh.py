"""acosh: inverse hyperbolic cosine of x, log(x + √(x² - 1)); NaN where x < 1.

Shapes: x any; y as x.
Gradient: g / √(x² - 1), infinite at 1; NaN below, as acosh is (PyTorch: that formula, finite below -1).
Source: Abramowitz, Stegun, Handbook of Mathematical Functions (1964), 4.6.
PyTorch: torch.acosh. ONNX: Acosh. ggml: none.
"""

import math
from typing import Any

import numpy as np

from opproof.core.arrays import Array

BEYOND = True
ANALYTIC = True
TRAITS = ("pointwise",)
NEIGHBOURS = ("cosh",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"x": (1.0, math.inf)}


def forward(x: Array) -> Array:
    return np.arccosh(x)


def vjp(g: Array, y: Array, x: Array) -> Array:
    return g / (np.sqrt(x - 1) * np.sqrt(x + 1))  # type: ignore[no-any-return]


def torch(torch: Any, x: Any) -> Any:
    return torch.acosh(x)
