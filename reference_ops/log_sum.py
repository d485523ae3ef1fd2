"""log_sum: the logarithm of the sum of the elements over `dim` (one axis, several, or all where None).

Shapes: x any, positive; y as x without `dim`, or with them of size 1 where keepdim.
Gradient: g over the sum, to every element of it.
Source: the definition.
PyTorch: torch.sum, then log. ONNX: ReduceLogSum. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._axes import Dim, kept, left
from opproof.reference_ops._torch import widened

ANALYTIC = True
TRIVIAL = {"vjp": ("constant",)}
TRAITS = ("rowwise", "long sum")
NEIGHBOURS = ("logsumexp",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"x": (0.0, np.inf)}


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return left(shapes, params["dim"], params["keepdim"])


def forward(x: Array, *, dim: Dim = None, keepdim: bool = False) -> Array:
    return np.log(np.sum(x, axis=dim, keepdims=keepdim))  # type: ignore[no-any-return]


def vjp(g: Array, y: Array, x: Array, *, dim: Dim = None, keepdim: bool = False) -> Array:
    share = kept(g, x, dim) / np.sum(x, axis=dim, keepdims=True)
    return np.broadcast_to(share, x.shape)


def torch(torch: Any, x: Any, *, dim: Dim = None, keepdim: bool = False) -> Any:
    (wide,) = widened(torch, x)
    return torch.log(torch.sum(wide, dim=dim, keepdim=keepdim)).to(x.dtype)
