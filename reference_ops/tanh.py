"""tanh: hyperbolic tangent of x.

Shapes: x any; y as x.
Gradient: from the saved output, g (1 - y²).
Source: elementary.
PyTorch: torch.tanh. ONNX: Tanh. ggml: ggml_tanh.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

ANALYTIC = True
TRAITS = ("pointwise",)
NEIGHBOURS = ("hardtanh",)


def forward(x: Array) -> Array:
    return np.tanh(x)


def vjp(g: Array, y: Array, x: Array) -> Array:
    return g * (1 - y * y)  # type: ignore[no-any-return]


def torch(torch: Any, x: Any) -> Any:
    return torch.tanh(x)
