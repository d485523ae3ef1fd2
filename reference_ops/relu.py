"""relu: max(x, 0).

Shapes: x any; y as x.
Gradient: g where x > 0, else 0 (so 0 at 0, as PyTorch; 0 at NaN, PyTorch g).
Kinks: x = 0.
Source: Nair, Hinton, Rectified Linear Units Improve Restricted Boltzmann Machines (2010).
PyTorch: torch.relu. ONNX: Relu. ggml: ggml_relu.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

EXACT = ("forward", "vjp")
TRAITS = ("pointwise",)
SIGNED_ZEROS = True
KINDS = ("float8", "signed")
NEIGHBOURS = ("relu6",)


def forward(x: Array) -> Array:
    return np.maximum(x, 0) + 0  # 0 of -0, as the maximum of IEEE 754-2019


def vjp(g: Array, y: Array, x: Array) -> Array:
    return np.where(x > 0, g, 0)


def kinks(x: Array) -> Array:
    return np.abs(x)


def torch(torch: Any, x: Any) -> Any:
    return torch.relu(x)
