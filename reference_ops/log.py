"""log: natural logarithm of x, -inf at 0, NaN where x < 0.

Shapes: x any; y as x.
Gradient: g / x.
Source: elementary.
PyTorch: torch.log. ONNX: Log. ggml: ggml_log.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

BEYOND = True
ANALYTIC = True
TRAITS = ("pointwise", "jumps at zero")
NEIGHBOURS = ("log2", "log1p")


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"x": (0.0, np.inf)}


def forward(x: Array) -> Array:
    return np.log(x)


def vjp(g: Array, y: Array, x: Array) -> Array:
    return g / x


def torch(torch: Any, x: Any) -> Any:
    return torch.log(x)
