"""cos: cos x, in radians.

Shapes: x any; y as x.
Gradient: -g sin x.
Source: elementary.
PyTorch: torch.cos. ONNX: Cos. ggml: ggml_cos.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

ANALYTIC = True
TRAITS = ("pointwise",)


def forward(x: Array) -> Array:
    return np.cos(x)


def vjp(g: Array, y: Array, x: Array) -> Array:
    return -g * np.sin(x)


def torch(torch: Any, x: Any) -> Any:
    return torch.cos(x)
