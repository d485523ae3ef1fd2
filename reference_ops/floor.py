"""floor: the largest integer not above x.

Shapes: x any; y as x.
Gradient: zero everywhere.
Kinks: integers (steps); none are reported past 64, where 16-bit floats are mostly whole.
Source: elementary.
PyTorch: torch.floor. ONNX: Floor. ggml: ggml_floor.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

EXACT = ("forward", "vjp")
TRIVIAL = {"vjp": ("zeros", "constant")}
TRAITS = ("pointwise", "rounding", "jumps at zero")
SIGNED_ZEROS = True
NEIGHBOURS = ("trunc", "round")


def forward(x: Array) -> Array:
    return np.floor(x)


def vjp(g: Array, y: Array, x: Array) -> Array:
    return np.zeros_like(g)


def kinks(x: Array) -> Array:
    return np.where(np.abs(x) < 64, np.abs(x - np.rint(x)), np.inf)


def torch(torch: Any, x: Any) -> Any:
    return torch.floor(x)
