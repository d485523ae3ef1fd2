"""all: whether all elements are nonzero, over `dim`.

Shapes: x any; y bool, as x without `dim` (one axis, several, or all where None), or with them of size 1 where keepdim.
Gradient: none, the output is bool.
Source: the definition; NaN is not zero, so it counts as true.
PyTorch: torch.all. ONNX: none. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._axes import Dim

EXACT = ("forward",)
TRAITS = ("rowwise", "jumps at zero")
KINDS = ("signed", "unsigned")
NEIGHBOURS = ("any",)


def forward(x: Array, *, dim: Dim = None, keepdim: bool = False) -> Array:
    return np.all(x != 0, axis=dim, keepdims=keepdim)  # type: ignore[no-any-return]


def torch(torch: Any, x: Any, *, dim: Dim = None, keepdim: bool = False) -> Any:
    return torch.all(x, dim=dim, keepdim=keepdim).bool()  # of uint8 it gives uint8, as documented
