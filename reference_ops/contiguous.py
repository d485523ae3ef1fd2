"""contiguous: x, laid out row by row.

Shapes: x any; y as x.
Gradient: g.
Source: the definition.
PyTorch: torch.Tensor.contiguous. ONNX: Identity. ggml: ggml_cont, ggml_dup, ggml_cpy.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

ANALYTIC = True
MULTILINEAR = True
EXACT = ("forward", "vjp")
TRIVIAL = {"forward": ("copy",), "vjp": ("copy",)}
TRAITS = ("pointwise",)
KINDS = ("float8", "signed", "unsigned")


def forward(x: Array) -> Array:
    return np.copy(x)


def vjp(g: Array, y: Array, x: Array) -> Array:
    return np.copy(g)


def torch(torch: Any, x: Any) -> Any:
    return x.contiguous().clone()
