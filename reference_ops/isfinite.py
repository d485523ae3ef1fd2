"""isfinite: whether x is neither NaN nor an infinity.

Shapes: x any; y as x, booleans.
Gradient: none.
Source: IEEE 754-2019, 5.7.2.
PyTorch: torch.isfinite. ONNX: none. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

EXACT = ("forward",)
TRAITS = ("pointwise",)
NEIGHBOURS = ("isnan", "isinf")
IN_PLACE = ()  # the result is of booleans


def forward(x: Array) -> Array:
    return np.isfinite(x)


def torch(torch: Any, x: Any) -> Any:
    return torch.isfinite(x)
