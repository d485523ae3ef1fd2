"""expm1: eˣ - 1, accurate near 0.

Shapes: x any; y as x.
Gradient: from the saved output, g (y + 1).
Source: elementary.
PyTorch: torch.expm1. ONNX: none. ggml: ggml_expm1.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

ANALYTIC = True
TRAITS = ("pointwise",)
NEIGHBOURS = ("exp",)


def forward(x: Array) -> Array:
    return np.expm1(x)


def vjp(g: Array, y: Array, x: Array) -> Array:
    return g * (y + 1)  # type: ignore[no-any-return]


def torch(torch: Any, x: Any) -> Any:
    return torch.expm1(x)
