"""log2: logarithm of x to base 2, -inf at 0, NaN where x < 0.

Shapes: x any; y as x.
Gradient: g / (x ln 2).
Source: elementary.
PyTorch: torch.log2. ONNX: none. ggml: none.
"""

import math
from typing import Any

import numpy as np

from opproof.core.arrays import Array

BEYOND = True
ANALYTIC = True
TRAITS = ("pointwise", "jumps at zero")
NEIGHBOURS = ("log",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"x": (0.0, np.inf)}


def forward(x: Array) -> Array:
    return np.log2(x)


def vjp(g: Array, y: Array, x: Array) -> Array:
    return g / x / math.log(2)  # x log 2 is no normal number where x is the least one


def torch(torch: Any, x: Any) -> Any:
    return torch.log2(x)
