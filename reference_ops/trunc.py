"""trunc: x without its fraction, toward zero.

Shapes: x any; y as x.
Gradient: zero everywhere.
Kinks: integers other than 0 (steps); none are reported past 64, where 16-bit floats are mostly whole.
Source: elementary.
PyTorch: torch.trunc. ONNX: none. ggml: ggml_trunc.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

EXACT = ("forward", "vjp")
TRIVIAL = {"vjp": ("zeros", "constant")}
TRAITS = ("pointwise", "rounding")
SIGNED_ZEROS = True
NEIGHBOURS = ("floor", "round")


def forward(x: Array) -> Array:
    return np.trunc(x)


def vjp(g: Array, y: Array, x: Array) -> Array:
    return np.zeros_like(g)


def kinks(x: Array) -> Array:
    size = np.abs(x)
    return np.where(size < 64, np.abs(size - np.maximum(np.rint(size), 1)), np.inf)


def torch(torch: Any, x: Any) -> Any:
    return torch.trunc(x)
