"""sinh: hyperbolic sine of x.

Shapes: x any; y as x.
Gradient: g cosh x.
Source: elementary.
PyTorch: torch.sinh. ONNX: Sinh. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

ANALYTIC = True
TRAITS = ("pointwise",)
NEIGHBOURS = ("sin",)


def forward(x: Array) -> Array:
    return np.sinh(x)


def vjp(g: Array, y: Array, x: Array) -> Array:
    return g * np.cosh(x)


def torch(torch: Any, x: Any) -> Any:
    return torch.sinh(x)
