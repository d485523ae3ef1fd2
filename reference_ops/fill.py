"""fill: `value` everywhere.

Shapes: x any; y as x.
Gradient: zeros, no element of x has any influence.
Source: the definition.
PyTorch: torch.fill, torch.full_like. ONNX: ConstantOfShape. ggml: ggml_fill.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

ANALYTIC = True
EXACT = ("forward", "vjp")
TRIVIAL = {"forward": ("constant", "zeros"), "vjp": ("constant", "zeros")}
TRAITS = ("pointwise",)


def forward(x: Array, *, value: float) -> Array:
    return np.full_like(x, value)


def vjp(g: Array, y: Array, x: Array, *, value: float) -> Array:
    return np.zeros_like(g)


def torch(torch: Any, x: Any, *, value: float) -> Any:
    return torch.fill(x, value)
