"""sum_square: the sum of the squares of the elements over `dim` (one axis, several, or all where None).

Shapes: x any; y as x without `dim`, or with them of size 1 where keepdim.
Gradient: 2 g x.
Source: the definition.
PyTorch: torch.square, then sum. ONNX: ReduceSumSquare. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._axes import Dim, kept, left
from opproof.reference_ops._torch import widened

ANALYTIC = True
TRAITS = ("rowwise", "long sum")
NEIGHBOURS = ("sum", "norm")


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return left(shapes, params["dim"], params["keepdim"])


def forward(x: Array, *, dim: Dim = None, keepdim: bool = False) -> Array:
    return np.sum(x * x, axis=dim, keepdims=keepdim)  # type: ignore[no-any-return]


def vjp(g: Array, y: Array, x: Array, *, dim: Dim = None, keepdim: bool = False) -> Array:
    return 2 * kept(g, x, dim) * x


def torch(torch: Any, x: Any, *, dim: Dim = None, keepdim: bool = False) -> Any:
    (wide,) = widened(torch, x)
    return torch.sum(torch.square(wide), dim=dim, keepdim=keepdim).to(x.dtype)
