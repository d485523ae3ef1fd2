"""transpose: x with the axes dim0 and dim1 exchanged.

Shapes: x any; y with those two sizes exchanged.
Gradient: g with the same two axes exchanged.
Source: the definition.
PyTorch: torch.transpose. ONNX: Transpose. ggml: ggml_transpose (the last two axes).
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

ANALYTIC = True
MULTILINEAR = True
EXACT = ("forward", "vjp")
KINDS = ("float8", "signed", "unsigned")


def forward(x: Array, *, dim0: int, dim1: int) -> Array:
    if x.ndim == 0 and {dim0, dim1} <= {0, -1}:  # a number has no axes, of which PyTorch lets name one
        return x
    return np.swapaxes(x, dim0, dim1)


def vjp(g: Array, y: Array, x: Array, *, dim0: int, dim1: int) -> Array:
    return np.swapaxes(g, dim0, dim1) if x.ndim else g


def torch(torch: Any, x: Any, *, dim0: int, dim1: int) -> Any:
    return torch.transpose(x, dim0, dim1)
