"""amin: the smallest element over `dim` (one axis, several, or all where None).

Shapes: x any; y as x without `dim`, or with them of size 1 where keepdim. Over no elements y is inf, the identity
of min (as ONNX; PyTorch declines).
Gradient: g, shared evenly among the elements that tie for the minimum (as PyTorch).
Kinks: ties; the distance of the smallest element is its gap to the next larger one.
Source: PyTorch's documentation of torch.amin (even distribution of the gradient).
PyTorch: torch.amin. ONNX: ReduceMin. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._axes import Dim, count, kept

EXACT = ("forward",)
TRAITS = ("rowwise", "ordered")
KINDS = ("signed", "unsigned")
NEIGHBOURS = ("amax",)


def forward(x: Array, *, dim: Dim = None, keepdim: bool = False) -> Array:
    return np.min(x, axis=dim, keepdims=keepdim, initial=True if x.dtype == bool else np.inf)  # type: ignore[no-any-return]


def vjp(g: Array, y: Array, x: Array, *, dim: Dim = None, keepdim: bool = False) -> Array:
    tied = x == np.min(x, axis=dim, keepdims=True, initial=np.inf)
    # A product, not a selection: a row with a NaN has no element equal to it, and its gradient is NaN (as PyTorch).
    return tied * (kept(g, x, dim) / np.sum(tied, axis=dim, keepdims=True, dtype=g.dtype))  # type: ignore[no-any-return]


def kinks(x: Array, *, dim: Dim = None, keepdim: bool = False) -> Array:
    least = np.min(x, axis=dim, keepdims=True, initial=np.inf)
    next_larger = np.min(np.where(x == least, np.inf, x), axis=dim, keepdims=True, initial=np.inf)
    tied = np.sum(x == least, axis=dim, keepdims=True) > 1
    return np.where(x == least, np.where(tied, 0, next_larger - least), x - least)


def torch(torch: Any, x: Any, *, dim: Dim = None, keepdim: bool = False) -> Any:
    if not count(x, dim):
        raise NotImplementedError("PyTorch's amin has no value of an empty axis")
    return torch.amin(x, dim=tuple(range(x.ndim)) if dim is None else dim, keepdim=keepdim)
