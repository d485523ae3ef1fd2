"""rsqrt: 1 / √x, infinite at 0, NaN where x < 0.

Shapes: x any; y as x.
Gradient: from the saved output, -g y³ / 2.
Source: elementary.
PyTorch: torch.rsqrt. ONNX: none (Reciprocal of Sqrt). ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

BEYOND = True
ANALYTIC = True
TRAITS = ("pointwise", "jumps at zero")


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"x": (0.0, np.inf)}


def forward(x: Array) -> Array:
    return 1 / np.sqrt(x)


def vjp(g: Array, y: Array, x: Array) -> Array:
    return -0.5 * g * y * (y * y)  # type: ignore[no-any-return]


def torch(torch: Any, x: Any) -> Any:
    return torch.rsqrt(x)
