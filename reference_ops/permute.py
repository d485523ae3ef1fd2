"""permute: axis i of y is axis dims[i] of x.

Shapes: x any; y with the axes in the order `dims`.
Gradient: g under the inverse permutation (which most permutations of three axes or more are not of themselves).
Source: the definition.
PyTorch: torch.permute. ONNX: Transpose. ggml: ggml_permute (takes the inverse permutation, axes counted backwards).
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

ANALYTIC = True
MULTILINEAR = True
EXACT = ("forward", "vjp")
KINDS = ("float8", "signed", "unsigned")


def forward(x: Array, *, dims: tuple[int, ...]) -> Array:
    return np.transpose(x, dims)


def vjp(g: Array, y: Array, x: Array, *, dims: tuple[int, ...]) -> Array:
    order = [d % x.ndim for d in dims]
    return np.transpose(g, tuple(order.index(a) for a in range(x.ndim)))


def torch(torch: Any, x: Any, *, dims: tuple[int, ...]) -> Any:
    return torch.permute(x, dims)
