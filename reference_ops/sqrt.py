"""sqrt: √x, NaN where x < 0.

Shapes: x any; y as x.
Gradient: from the saved output, g / (2 y); infinite at 0.
Source: elementary.
PyTorch: torch.sqrt. ONNX: Sqrt. ggml: ggml_sqrt.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

BEYOND = True
ANALYTIC = True
TRAITS = ("pointwise",)
SIGNED_ZEROS = True
NEIGHBOURS = ("rsqrt",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"x": (0.0, np.inf)}


def forward(x: Array) -> Array:
    return np.sqrt(x)


def vjp(g: Array, y: Array, x: Array) -> Array:
    return g / (2 * y)  # type: ignore[no-any-return]


def torch(torch: Any, x: Any) -> Any:
    return torch.sqrt(x)
