"""flip: x in reverse order along `dims`.

Shapes: x any; y as x.
Gradient: g in reverse order.
Source: the definition.
PyTorch: torch.flip. ONNX: Slice (step = -1). ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

ANALYTIC = True
MULTILINEAR = True
EXACT = ("forward", "vjp")
KINDS = ("float8", "signed", "unsigned")


def forward(x: Array, *, dims: tuple[int, ...]) -> Array:
    return np.flip(x, dims)


def vjp(g: Array, y: Array, x: Array, *, dims: tuple[int, ...]) -> Array:
    return np.flip(g, dims)


def torch(torch: Any, x: Any, *, dims: tuple[int, ...]) -> Any:
    return torch.flip(x, dims)
