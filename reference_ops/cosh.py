"""cosh: hyperbolic cosine of x.

Shapes: x any; y as x.
Gradient: g sinh x.
Source: elementary.
PyTorch: torch.cosh. ONNX: Cosh. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

ANALYTIC = True
TRAITS = ("pointwise",)
NEIGHBOURS = ("cos",)


def forward(x: Array) -> Array:
    return np.cosh(x)


def vjp(g: Array, y: Array, x: Array) -> Array:
    return g * np.sinh(x)


def torch(torch: Any, x: Any) -> Any:
    return torch.cosh(x)
