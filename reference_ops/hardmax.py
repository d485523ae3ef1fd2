"""hardmax: 1 where the largest element along `dim` stands, the first of several, and 0 everywhere else.

Shapes: x any; y as x.
Gradient: none, the output is constant but where it jumps.
Source: ONNX, Hardmax.
PyTorch: none (torch.argmax and one_hot). ONNX: Hardmax. ggml: none.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array

EXACT = ("forward",)
TRAITS = ("rowwise", "ordered")
NEIGHBOURS = ("softmax",)


def _first(x: Array, order: Array, dim: int) -> Array:
    """1 at the place of the largest number of `order` along `dim`, in the dtype of x."""
    y = np.zeros(x.shape, dtype=x.dtype, like=x)
    if not x.ndim:
        return y + 1
    if x.size:
        np.put_along_axis(y, np.argmax(order, axis=dim, keepdims=True), 1, axis=dim)
    return y


def forward(x: Array, *, dim: int) -> Array:
    return _first(x, x, dim)


def conventions(x: Array, *, dim: int) -> Iterator[Array]:
    yield _first(x, np.where(np.isnan(x), -np.inf, x), dim)  # NaN is ignored


def torch(torch: Any, x: Any, *, dim: int) -> Any:
    y = torch.zeros_like(x)
    return y.scatter(dim, torch.argmax(x, dim, True), 1.0) if x.numel() else y
