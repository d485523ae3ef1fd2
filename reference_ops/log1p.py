"""log1p: log(1 + x), accurate near 0, -inf at -1, NaN below.

Shapes: x any; y as x.
Gradient: g / (1 + x).
Source: elementary.
PyTorch: torch.log1p. ONNX: none. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

BEYOND = True
ANALYTIC = True
TRAITS = ("pointwise",)
NEIGHBOURS = ("log",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"x": (-1.0, np.inf)}


def forward(x: Array) -> Array:
    return np.log1p(x)


def vjp(g: Array, y: Array, x: Array) -> Array:
    return g / (1 + x)  # type: ignore[no-any-return]


def torch(torch: Any, x: Any) -> Any:
    return torch.log1p(x)
