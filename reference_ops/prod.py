"""prod: the product of the elements over `dim` (one axis, or all where None).

Shapes: x any; y as x without `dim`, or with it of size 1 where keepdim.
Gradient: g times the product of all the other elements, from products before and after each (right at zeros too).
Source: the product rule.
PyTorch: torch.prod. ONNX: ReduceProd. ggml: none.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._axes import kept, left
from opproof.reference_ops._passed import of_sizes

ANALYTIC = True
MULTILINEAR = True
TRAITS = ("rowwise", "long product")
KINDS = ("signed", "unsigned")


def _before(x: Array) -> Array:
    """The product of all elements before each one, along the last axis."""
    return np.concatenate([np.ones_like(x[..., :1]), np.cumprod(x[..., :-1], axis=-1)], axis=-1)


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return left(shapes, params["dim"], params["keepdim"])


def forward(x: Array, *, dim: int | None = None, keepdim: bool = False) -> Array:
    return np.prod(x, axis=dim, keepdims=keepdim)  # type: ignore[no-any-return]


def vjp(g: Array, y: Array, x: Array, *, dim: int | None = None, keepdim: bool = False) -> Array:
    if x.size == 0:
        return np.zeros_like(x)
    rows = np.reshape(x, (1, -1)) if dim is None else np.swapaxes(x, dim, -1) if x.ndim else np.reshape(x, (1, 1))
    others = _before(rows) * np.flip(_before(np.flip(rows, -1)), -1)
    others = np.reshape(others, x.shape) if dim is None or x.ndim == 0 else np.swapaxes(others, dim, -1)
    return kept(g, x, dim) * others  # type: ignore[no-any-return]


def partials(x: Array, *, dim: int | None = None, keepdim: bool = False) -> Iterator[Array]:
    return of_sizes(lambda sizes: forward(sizes, dim=dim, keepdim=True), x)


def torch(torch: Any, x: Any, *, dim: int | None = None, keepdim: bool = False) -> Any:
    if dim is None:
        return torch.prod(x).reshape([1] * x.ndim if keepdim else [])  # it keeps no axes of all
    return torch.prod(x, dim, keepdim=keepdim)
