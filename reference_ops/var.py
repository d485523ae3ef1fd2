"""var: the variance over `dim`, sum (x - mean)² / (n - correction), in two passes.

Shapes: x any; y as x without `dim` (one axis, several, or all where None), or with them of size 1 where keepdim.
Of infinities it is NaN, or inf where it is merged from the variances of parts.
Gradient: 2 g (x - mean) / (n - correction).
Source: Chan, Golub, LeVeque, Algorithms for computing the sample variance (1983).
PyTorch: torch.var. ONNX: none. ggml: none.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._axes import Dim, ask_for_freedom, count, kept, left, mean_of, unbounded

ANALYTIC = True
APART = True
TRAITS = ("rowwise", "statistic", "long sum")
NEIGHBOURS = ("std",)


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return left(shapes, params["dim"], params["keepdim"])


def forward(x: Array, *, dim: Dim = None, correction: int = 1, keepdim: bool = False) -> Array:
    ask_for_freedom(x, dim, correction)
    centred = x - mean_of(x, dim, True)
    return np.sum(centred * centred, axis=dim, keepdims=keepdim) / max(count(x, dim) - correction, 0)  # type: ignore[no-any-return]


def conventions(x: Array, *, dim: Dim = None, correction: int = 1, keepdim: bool = False) -> Iterator[Array]:
    y = forward(x, dim=dim, correction=correction, keepdim=keepdim)
    yield np.where(unbounded(x, dim, keepdim), np.inf, y)  # merged from parts


def vjp(g: Array, y: Array, x: Array, *, dim: Dim = None, correction: int = 1, keepdim: bool = False) -> Array:
    centred = x - mean_of(x, dim, True)
    return kept(g, x, dim) * 2 * centred / max(count(x, dim) - correction, 0)  # type: ignore[no-any-return]


def torch(torch: Any, x: Any, *, dim: Dim = None, correction: int = 1, keepdim: bool = False) -> Any:
    return torch.var(x, dim, correction=correction, keepdim=keepdim)
