"""logical_and: whether both a and b are nonzero; NaN is nonzero.

Shapes: a and b broadcast against each other; y has the broadcast shape.
Gradient: none.
Source: NumPy and PyTorch, where every number but 0 is true.
PyTorch: torch.logical_and. ONNX: And (of booleans). ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

EXACT = ("forward",)
TRAITS = ("pointwise", "broadcasts", "jumps at zero")
KINDS = ("signed", "unsigned")
NEIGHBOURS = ("logical_or",)
IN_PLACE = ()  # the result is of booleans


def forward(a: Array, b: Array) -> Array:
    return np.logical_and(a, b)


def torch(torch: Any, a: Any, b: Any) -> Any:
    return torch.logical_and(a, b)
