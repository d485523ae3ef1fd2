"""isinf: whether x is an infinity, of either sign.

Shapes: x any; y as x, booleans.
Gradient: none.
Source: IEEE 754-2019, 5.7.2.
PyTorch: torch.isinf. ONNX: IsInf. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

EXACT = ("forward",)
TRAITS = ("pointwise",)
NEIGHBOURS = ("isnan", "isfinite")
IN_PLACE = ()  # the result is of booleans


def forward(x: Array) -> Array:
    return np.isinf(x)


def torch(torch: Any, x: Any) -> Any:
    return torch.isinf(x)
