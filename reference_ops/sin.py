"""sin: sin x, in radians.

Shapes: x any; y as x.
Gradient: g cos x.
Source: elementary.
PyTorch: torch.sin. ONNX: Sin. ggml: ggml_sin.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

ANALYTIC = True
TRAITS = ("pointwise",)


def forward(x: Array) -> Array:
    return np.sin(x)


def vjp(g: Array, y: Array, x: Array) -> Array:
    return g * np.cos(x)


def torch(torch: Any, x: Any) -> Any:
    return torch.sin(x)
