"""std: the standard deviation over `dim`, sqrt(sum (x - mean)² / (n - correction)).

Shapes: x any; y as x without `dim` (one axis, several, or all where None), or with them of size 1 where keepdim.
Of infinities it is NaN, or inf where a variance is merged from those of parts.
Gradient: g (x - mean) / ((n - correction) y), and 0 where y is 0 (as PyTorch).
Kinks: rows whose elements are all equal.
Source: the square root of torch.var.
PyTorch: torch.std. ONNX: none. ggml: none.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._axes import Dim, ask_for_freedom, count, kept, left, mean_of, unbounded

APART = True
TRAITS = ("rowwise", "statistic", "long sum")
NEIGHBOURS = ("var",)


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return left(shapes, params["dim"], params["keepdim"])


def forward(x: Array, *, dim: Dim = None, correction: int = 1, keepdim: bool = False) -> Array:
    ask_for_freedom(x, dim, correction)
    centred = x - mean_of(x, dim, True)
    return np.sqrt(np.sum(centred * centred, axis=dim, keepdims=keepdim) / max(count(x, dim) - correction, 0))  # type: ignore[no-any-return]


def conventions(x: Array, *, dim: Dim = None, correction: int = 1, keepdim: bool = False) -> Iterator[Array]:
    y = forward(x, dim=dim, correction=correction, keepdim=keepdim)
    yield np.where(unbounded(x, dim, keepdim), np.inf, y)  # merged from parts


def vjp(g: Array, y: Array, x: Array, *, dim: Dim = None, correction: int = 1, keepdim: bool = False) -> Array:
    centred = x - mean_of(x, dim, True)
    spread = kept(y, x, dim)
    slope = kept(g, x, dim) * centred / (max(count(x, dim) - correction, 0) * np.where(spread == 0, 1, spread))
    return np.where(spread == 0, 0, slope)


def kinks(x: Array, *, dim: Dim = None, correction: int = 1, keepdim: bool = False) -> Array:
    centred = x - mean_of(x, dim, True)
    return np.sqrt(np.sum(centred * centred, axis=dim, keepdims=True))  # type: ignore[no-any-return]


def torch(torch: Any, x: Any, *, dim: Dim = None, correction: int = 1, keepdim: bool = False) -> Any:
    return torch.std(x, dim, correction=correction, keepdim=keepdim)
