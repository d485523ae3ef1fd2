"""logical_not: whether x is zero (of either sign); NaN is not.

Shapes: x any; y as x.
Gradient: none.
Source: NumPy and PyTorch, where every number but 0 is true.
PyTorch: torch.logical_not. ONNX: Not (of booleans). ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

EXACT = ("forward",)
TRAITS = ("pointwise", "jumps at zero")
KINDS = ("signed", "unsigned")
IN_PLACE = ()  # the result is of booleans


def forward(x: Array) -> Array:
    return np.logical_not(x)


def torch(torch: Any, x: Any) -> Any:
    return torch.logical_not(x)
