"""atan: arc tangent of x, in [-π/2, π/2].

Shapes: x any; y as x.
Gradient: g / (1 + x²).
Source: elementary.
PyTorch: torch.atan. ONNX: Atan. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

ANALYTIC = True
TRAITS = ("pointwise",)


def forward(x: Array) -> Array:
    return np.arctan(x)


def vjp(g: Array, y: Array, x: Array) -> Array:
    return g / (1 + x * x)  # type: ignore[no-any-return]


def torch(torch: Any, x: Any) -> Any:
    return torch.atan(x)
