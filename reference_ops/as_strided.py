"""as_strided: y[i, j, ...] = the element storage_offset + i stride[0] + j stride[1] + ... of x, counted row by row.

Shapes: x any, read as if contiguous whatever its layout; y of `size`. Strides, in elements, may let cells overlap.
Gradient: each g added to the element that it came from; elements never shown get zero.
Source: PyTorch's documentation of torch.as_strided.
PyTorch: torch.as_strided (of a contiguous tensor). ONNX: none. ggml: ggml_view_1d to ggml_view_4d.
"""

import math
from typing import Any

import numpy as np

from opproof.core.arrays import Array

SIGNATURE = "none"
ANALYTIC = True
MULTILINEAR = True
EXACT = ("forward",)
TRAITS = ("long sum",)
KINDS = ("float8", "signed", "unsigned")


def _elements(size: tuple[int, ...], stride: tuple[int, ...], offset: int) -> Array:
    found = np.full((), offset)
    for n, s in zip(size, stride, strict=True):
        found = found[..., None] + s * np.arange(n)
    return found


def forward(x: Array, *, size: tuple[int, ...], stride: tuple[int, ...], storage_offset: int = 0) -> Array:
    return np.reshape(x, (math.prod(x.shape),))[_elements(size, stride, storage_offset)]


def vjp(
    g: Array, y: Array, x: Array, *, size: tuple[int, ...], stride: tuple[int, ...], storage_offset: int = 0
) -> Array:
    dx = np.zeros((math.prod(x.shape),), dtype=g.dtype, like=g)
    np.add.at(dx, _elements(size, stride, storage_offset), g)
    return np.reshape(dx, x.shape)


def torch(torch: Any, x: Any, *, size: tuple[int, ...], stride: tuple[int, ...], storage_offset: int = 0) -> Any:
    return torch.as_strided(x.contiguous(), size, stride, storage_offset)
