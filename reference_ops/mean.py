"""mean: the sum of the elements over `dim` divided by their number.

Shapes: x any; y as x without `dim` (one axis, several, or all where None), or with them of size 1 where keepdim.
Gradient: g divided by the number, copied to every element.
Source: the definition; the mean of nothing is NaN.
PyTorch: torch.mean. ONNX: ReduceMean. ggml: ggml_mean (dim = -1, keepdim).
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._axes import Dim, count, kept, left, mean_of

ANALYTIC = True
TRIVIAL = {"vjp": ("constant",)}
TRAITS = ("rowwise", "statistic", "long sum")


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return left(shapes, params["dim"], params["keepdim"])


def forward(x: Array, *, dim: Dim = None, keepdim: bool = False) -> Array:
    return mean_of(x, dim, keepdim)


def vjp(g: Array, y: Array, x: Array, *, dim: Dim = None, keepdim: bool = False) -> Array:
    # An empty mean has no element to receive a gradient: its divisor never matters.
    return np.broadcast_to(kept(g, x, dim) / max(count(x, dim), 1), x.shape)


def torch(torch: Any, x: Any, *, dim: Dim = None, keepdim: bool = False) -> Any:
    return torch.mean(x, dim=dim, keepdim=keepdim)
