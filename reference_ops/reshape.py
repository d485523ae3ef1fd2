"""reshape: the elements of x in row-major order under another shape; one size may be -1.

Shapes: x any; y of `shape`, with as many elements.
Gradient: g under the shape of x.
Source: the definition.
PyTorch: torch.reshape. ONNX: Reshape. ggml: ggml_reshape.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

ANALYTIC = True
MULTILINEAR = True
EXACT = ("forward", "vjp")
KINDS = ("float8", "signed", "unsigned")
TRIVIAL = {"forward": ("copy",), "vjp": ("copy",)}


def forward(x: Array, *, shape: tuple[int, ...]) -> Array:
    return np.reshape(x, shape)


def vjp(g: Array, y: Array, x: Array, *, shape: tuple[int, ...]) -> Array:
    return np.reshape(g, x.shape)


def torch(torch: Any, x: Any, *, shape: tuple[int, ...]) -> Any:
    return torch.reshape(x, shape)
