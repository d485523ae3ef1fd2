"""col2im: columns added back into an image, the transpose of im2col; where windows overlap they add up.

Shapes: x (n, c kh kw, windows); y (n, c, *output_size). Cells that no window covers are zero.
Gradient: im2col of g.
Source: PyTorch's documentation of torch.nn.functional.fold.
PyTorch: torch.nn.functional.fold. ONNX: Col2Im. ggml: ggml_col2im_1d (one axis), ggml_im2col_back.
"""

import math
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._windows import Sizes, asked_of_something, columns, fold, padded, per_axis, unpadded, windows

SIGNATURE = "none"
ANALYTIC = True
MULTILINEAR = True
EXACT = ("vjp",)


def forward(
    x: Array,
    *,
    output_size: Sizes,
    kernel_size: Sizes,
    dilation: Sizes = 1,
    padding: Sizes = 0,
    stride: Sizes = 1,
) -> Array:
    asked_of_something(x, "folding")
    every = (output_size, kernel_size, stride, padding, dilation)
    size, kernel, strides, pads, dils = (per_axis(v, 2) for v in every)
    out = tuple(windows(*v) for v in zip(size, kernel, strides, pads, dils, strict=True))
    wide = tuple(s + 2 * p for s, p in zip(size, pads, strict=True))
    cols = np.reshape(x, (x.shape[0], x.shape[1] // math.prod(kernel), *kernel, *out))
    return unpadded(fold(cols, wide, strides, dils), pads, size)


def vjp(
    g: Array,
    y: Array,
    x: Array,
    *,
    output_size: Sizes,
    kernel_size: Sizes,
    dilation: Sizes = 1,
    padding: Sizes = 0,
    stride: Sizes = 1,
) -> Array:
    pads = per_axis(padding, 2)
    cols = columns(padded(g, pads, pads), per_axis(kernel_size, 2), per_axis(stride, 2), per_axis(dilation, 2))
    return np.reshape(cols, x.shape)


def torch(
    torch: Any,
    x: Any,
    *,
    output_size: Sizes,
    kernel_size: Sizes,
    dilation: Sizes = 1,
    padding: Sizes = 0,
    stride: Sizes = 1,
) -> Any:
    return torch.nn.functional.fold(x, per_axis(output_size, 2), kernel_size, dilation, padding, stride)
