"""log10: logarithm of x to base 10, -inf at 0, NaN where x < 0.

Shapes: x any; y as x.
Gradient: g / (x ln 10).
Source: elementary.
PyTorch: torch.log10. ONNX: none. ggml: none.
"""

import math
from typing import Any

import numpy as np

from opproof.core.arrays import Array

BEYOND = True
ANALYTIC = True
TRAITS = ("pointwise", "jumps at zero")
NEIGHBOURS = ("log", "log2")


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"x": (0.0, np.inf)}


def forward(x: Array) -> Array:
    return np.log10(x)


def vjp(g: Array, y: Array, x: Array) -> Array:
    return g / math.log(10) / x  # x times log 10 may be subnormal, and 1 / x infinite, where this is neither


def torch(torch: Any, x: Any) -> Any:
    return torch.log10(x)
