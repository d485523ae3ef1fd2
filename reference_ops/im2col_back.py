"""im2col_back: the gradient of ggml's im2col: every window of grad added back to the cells that it was read from.

Shapes: grad (n, oh, ow, c kh kw), channel outermost, then the kernel's rows and columns; y (n, c, h, w) with
size = (h, w). Cells that no window covers are zero.
Gradient: the windows of g.
Source: ggml.h, ggml_im2col_back; Chellapilla, Puri, Simard (2006).
PyTorch: torch.nn.functional.fold (of the windows as columns). ONNX: Col2Im (of the columns). ggml: ggml_im2col_back.
"""

import math
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._torch import widened
from opproof.reference_ops._windows import Sizes, asked_of_something, columns, fold, padded, per_axis, unpadded

SIGNATURE = "none"
ANALYTIC = True
MULTILINEAR = True
EXACT = ("vjp",)


def forward(
    grad: Array,
    *,
    size: tuple[int, int],
    kernel_size: Sizes,
    dilation: Sizes = 1,
    padding: Sizes = 0,
    stride: Sizes = 1,
) -> Array:
    asked_of_something(grad, "folding")
    kernel, strides, pads, dils = (per_axis(v, 2) for v in (kernel_size, stride, padding, dilation))
    n, oh, ow, depth = grad.shape
    windows = np.reshape(grad, (n, oh, ow, depth // math.prod(kernel), *kernel))
    wide = tuple(s + 2 * p for s, p in zip(size, pads, strict=True))
    return unpadded(fold(np.transpose(windows, (0, 3, 4, 5, 1, 2)), wide, strides, dils), pads, size)


def vjp(
    g: Array,
    y: Array,
    grad: Array,
    *,
    size: tuple[int, int],
    kernel_size: Sizes,
    dilation: Sizes = 1,
    padding: Sizes = 0,
    stride: Sizes = 1,
) -> Array:
    pads = per_axis(padding, 2)
    windows = columns(padded(g, pads, pads), per_axis(kernel_size, 2), per_axis(stride, 2), per_axis(dilation, 2))
    return np.reshape(np.transpose(windows, (0, 4, 5, 1, 2, 3)), grad.shape)


def torch(
    torch: Any,
    grad: Any,
    *,
    size: tuple[int, int],
    kernel_size: Sizes,
    dilation: Sizes = 1,
    padding: Sizes = 0,
    stride: Sizes = 1,
) -> Any:
    (wide,) = widened(torch, grad)
    rows = wide.flatten(1, 2).transpose(1, 2)
    return torch.nn.functional.fold(rows, size, kernel_size, dilation, padding, stride).to(grad.dtype)
