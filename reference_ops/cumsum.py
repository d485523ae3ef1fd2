"""cumsum: the sum of all elements up to and with each one, along `dim`.

Shapes: x any; y as x.
Gradient: the sums of g from each element to the end.
Source: the definition.
PyTorch: torch.cumsum. ONNX: CumSum. ggml: ggml_cumsum (dim = -1).
"""

from typing import Any

import numpy as np

from opproof.vocabulary.arrays import Array

ANALYTIC = True
MULTILINEAR = True
TRAITS = ("rowwise", "long sum")
IN_PLACE = ("x",)


def forward(x: Array, *, dim: int) -> Array:
    return np.cumsum(x, axis=dim)


def vjp(g: Array, y: Array, x: Array, *, dim: int) -> Array:
    return np.flip(np.cumsum(np.flip(g, dim), axis=dim), dim)


def torch(torch: Any, x: Any, *, dim: int) -> Any:
    return torch.cumsum(x, dim)
