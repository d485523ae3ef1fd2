"""amax: the largest element over `dim` (one axis, several, or all where None).

Shapes: x any; y as x without `dim`, or with them of size 1 where keepdim. Over no elements y is -inf, the identity
of max (as ONNX; PyTorch declines).
Gradient: g, shared evenly among the elements that tie for the maximum (as PyTorch).
Kinks: ties; the distance of the largest element is its gap to the runner-up.
Source: PyTorch's documentation of torch.amax (even distribution of the gradient).
PyTorch: torch.amax. ONNX: ReduceMax. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._axes import Dim, count, kept

EXACT = ("forward",)
TRAITS = ("rowwise", "ordered")
KINDS = ("signed", "unsigned")
NEIGHBOURS = ("amin",)


def forward(x: Array, *, dim: Dim = None, keepdim: bool = False) -> Array:
    return np.max(x, axis=dim, keepdims=keepdim, initial=False if x.dtype == bool else -np.inf)  # type: ignore[no-any-return]


def vjp(g: Array, y: Array, x: Array, *, dim: Dim = None, keepdim: bool = False) -> Array:
    tied = x == np.max(x, axis=dim, keepdims=True, initial=-np.inf)
    # A product, not a selection: a row with a NaN has no element equal to it, and its gradient is NaN (as PyTorch).
    return tied * (kept(g, x, dim) / np.sum(tied, axis=dim, keepdims=True, dtype=g.dtype))  # type: ignore[no-any-return]


def kinks(x: Array, *, dim: Dim = None, keepdim: bool = False) -> Array:
    top = np.max(x, axis=dim, keepdims=True, initial=-np.inf)
    runner_up = np.max(np.where(x == top, -np.inf, x), axis=dim, keepdims=True, initial=-np.inf)
    tied = np.sum(x == top, axis=dim, keepdims=True) > 1
    return np.where(x == top, np.where(tied, 0, top - runner_up), top - x)


def torch(torch: Any, x: Any, *, dim: Dim = None, keepdim: bool = False) -> Any:
    if not count(x, dim):
        raise NotImplementedError("PyTorch's amax has no value of an empty axis")
    return torch.amax(x, dim=tuple(range(x.ndim)) if dim is None else dim, keepdim=keepdim)
