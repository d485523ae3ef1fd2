"""tan: tan x, in radians.

Shapes: x any; y as x.
Gradient: from the saved output, g (1 + y²).
Kinks: the poles, odd multiples of π/2; none are reported past 64.
Source: elementary.
PyTorch: torch.tan. ONNX: Tan. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

ANALYTIC = True
TRAITS = ("pointwise",)


def forward(x: Array) -> Array:
    return np.tan(x)


def vjp(g: Array, y: Array, x: Array) -> Array:
    return g * (1 + y * y)  # type: ignore[no-any-return]


def kinks(x: Array) -> Array:
    turns = x / np.pi - 0.5
    return np.where(np.abs(x) < 64, np.pi * np.abs(turns - np.rint(turns)), np.inf)


def torch(torch: Any, x: Any) -> Any:
    return torch.tan(x)
