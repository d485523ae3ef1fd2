"""count_nonzero: how many elements are nonzero, over `dim`.

Shapes: x any; y int64, as x without `dim` (one axis, several, or all where None). NaN is not zero.
Gradient: none, the output is a number of elements.
Source: the definition.
PyTorch: torch.count_nonzero. ONNX: none. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._axes import Dim

EXACT = ("forward",)
TRAITS = ("rowwise", "jumps at zero")
KINDS = ("signed", "unsigned")
NEIGHBOURS = ("any",)


def forward(x: Array, *, dim: Dim = None) -> Array:
    return np.sum((x != 0).astype(np.int64), axis=dim)  # type: ignore[no-any-return]


def torch(torch: Any, x: Any, *, dim: Dim = None) -> Any:
    return torch.count_nonzero(x, dim=dim)
