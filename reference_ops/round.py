"""round: the nearest integer, halves to the even one.

Shapes: x any; y as x.
Gradient: zero everywhere.
Kinks: halves of odd integers (steps); none are reported past 64, where 16-bit floats are mostly whole.
Source: IEEE 754-2019, roundToIntegralTiesToEven; PyTorch, NumPy and ONNX follow it, C roundf and so ggml do not.
PyTorch: torch.round. ONNX: Round. ggml: ggml_round (halves away from zero).
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

EXACT = ("forward", "vjp")
TRIVIAL = {"vjp": ("zeros", "constant")}
TRAITS = ("pointwise", "rounding")
SIGNED_ZEROS = True
NEIGHBOURS = ("floor", "trunc")


def forward(x: Array) -> Array:
    return np.rint(x)


def vjp(g: Array, y: Array, x: Array) -> Array:
    return np.zeros_like(g)


def kinks(x: Array) -> Array:
    return np.where(np.abs(x) < 64, np.abs(x - np.floor(x) - 0.5), np.inf)


def torch(torch: Any, x: Any) -> Any:
    return torch.round(x)
