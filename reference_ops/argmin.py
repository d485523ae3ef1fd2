"""argmin: the index of the smallest element along `dim`, or among all of them where None.

Shapes: x any; y int64, as x without `dim`, or with it of size 1 where keepdim. The first index among ties.
Gradient: none, the output is an index.
Source: PyTorch's documentation of torch.argmin (the first of several).
PyTorch: torch.argmin. ONNX: ArgMin. ggml: none.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array

EXACT = ("forward",)
TRAITS = ("rowwise", "ordered")
KINDS = ("signed", "unsigned")
NEIGHBOURS = ("argmax",)


def forward(x: Array, *, dim: int | None = None, keepdim: bool = False) -> Array:
    return np.argmin(x, axis=dim, keepdims=keepdim)  # type: ignore[no-any-return]


def conventions(x: Array, *, dim: int | None = None, keepdim: bool = False) -> Iterator[Array]:
    yield np.argmin(np.where(np.isnan(x), np.inf, x), axis=dim, keepdims=keepdim)  # NaN is ignored


def torch(torch: Any, x: Any, *, dim: int | None = None, keepdim: bool = False) -> Any:
    return torch.argmin(x, dim, keepdim)
