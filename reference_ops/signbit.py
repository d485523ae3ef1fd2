"""signbit: whether the sign of x is set, as it is of -0.

Shapes: x any; y as x, booleans.
Gradient: none.
Source: IEEE 754-2019, 5.7.2 (isSignMinus).
PyTorch: torch.signbit. ONNX: none. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

EXACT = ("forward",)
TRAITS = ("pointwise", "jumps at zero")
IN_PLACE = ()  # the result is of booleans


def forward(x: Array) -> Array:
    return np.signbit(x)


def torch(torch: Any, x: Any) -> Any:
    return torch.signbit(x)
