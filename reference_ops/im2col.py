"""im2col: every window of x as a column.

Shapes: x (n, c, h, w); y (n, c kh kw, windows), channel outermost, then the kernel's rows and columns.
Gradient: each column of g added back to the cells of its window; cells that no window covers get zero.
Source: Chellapilla, Puri, Simard, High Performance Convolutional Neural Networks for Document Processing (2006).
PyTorch: torch.nn.functional.unfold. ONNX: none. ggml: ggml_im2col (columns and windows exchanged).
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._windows import (
    Sizes,
    ask_for_windows,
    asked_of_something,
    columns,
    fold,
    padded,
    per_axis,
    unpadded,
    windows,
)

SIGNATURE = "(n,c,h,w)"
ANALYTIC = True
MULTILINEAR = True
EXACT = ("forward",)


def forward(x: Array, *, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1) -> Array:
    asked_of_something(x, "unfolding")
    pads, kernel = per_axis(padding, 2), per_axis(kernel_size, 2)
    cols = columns(padded(x, pads, pads), kernel, per_axis(stride, 2), per_axis(dilation, 2))
    n, c, kh, kw, oh, ow = cols.shape
    ask_for_windows((oh, ow), kernel, x.shape[2:])
    return np.reshape(cols, (n, c * kh * kw, oh * ow))


def vjp(
    g: Array,
    y: Array,
    x: Array,
    *,
    kernel_size: Sizes,
    dilation: Sizes = 1,
    padding: Sizes = 0,
    stride: Sizes = 1,
) -> Array:
    kernel, strides, pads, dils = (per_axis(v, 2) for v in (kernel_size, stride, padding, dilation))
    size = x.shape[2:]
    out = tuple(windows(*v) for v in zip(size, kernel, strides, pads, dils, strict=True))
    wide = tuple(s + 2 * p for s, p in zip(size, pads, strict=True))
    cols = np.reshape(g, (*x.shape[:2], *kernel, *out))
    return unpadded(fold(cols, wide, strides, dils), pads, size)


def torch(torch: Any, x: Any, *, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1) -> Any:
    return torch.nn.functional.unfold(x, kernel_size, dilation, padding, stride)
