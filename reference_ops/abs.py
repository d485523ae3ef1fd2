"""abs: |x|.

Shapes: x any; y as x.
Gradient: g sign(x), so 0 at 0 (as PyTorch), and NaN at NaN (PyTorch: 0).
Kinks: x = 0.
Source: elementary.
PyTorch: torch.abs. ONNX: Abs. ggml: ggml_abs.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

EXACT = ("forward", "vjp")
TRAITS = ("pointwise",)
SIGNED_ZEROS = True
KINDS = ("float8", "signed")


def forward(x: Array) -> Array:
    return np.abs(x)


def vjp(g: Array, y: Array, x: Array) -> Array:
    return g * np.sign(x)


def kinks(x: Array) -> Array:
    return np.abs(x)


def torch(torch: Any, x: Any) -> Any:
    return torch.abs(x)
