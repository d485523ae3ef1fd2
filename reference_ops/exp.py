"""exp: eˣ.

Shapes: x any; y as x.
Gradient: from the saved output, g y.
Source: elementary.
PyTorch: torch.exp. ONNX: Exp. ggml: ggml_exp.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

ANALYTIC = True
TRAITS = ("pointwise",)
NEIGHBOURS = ("exp2", "expm1")


def forward(x: Array) -> Array:
    return np.exp(x)


def vjp(g: Array, y: Array, x: Array) -> Array:
    return g * y


def torch(torch: Any, x: Any) -> Any:
    return torch.exp(x)
