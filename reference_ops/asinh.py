"""asinh: inverse hyperbolic sine of x, log(x + √(1 + x²)).

Shapes: x any; y as x.
Gradient: g / √(1 + x²).
Source: Abramowitz, Stegun, Handbook of Mathematical Functions (1964), 4.6.
PyTorch: torch.asinh. ONNX: Asinh. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

TRAITS = ("pointwise",)
NEIGHBOURS = ("sinh", "atanh")


def forward(x: Array) -> Array:
    return np.arcsinh(x)


def vjp(g: Array, y: Array, x: Array) -> Array:
    return g * (1 / np.hypot(1, x))


def torch(torch: Any, x: Any) -> Any:
    return torch.asinh(x)
