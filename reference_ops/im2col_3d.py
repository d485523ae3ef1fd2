"""im2col_3d: every window of a volume as a column.

Shapes: x (n, c, d, h, w); y (n, c kd kh kw, windows), channel outermost, then the kernel's three axes.
Gradient: each column of g added back to the cells of its window; cells that no window covers get zero.
Source: Chellapilla, Puri, Simard, High Performance Convolutional Neural Networks (2006), with one axis more.
PyTorch: none (torch.nn.functional.unfold has two axes). ONNX: none.
ggml: ggml_im2col_3d (columns and windows exchanged).
"""

import itertools
import math
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._windows import Sizes, ask_for_windows, columns, fold, padded, per_axis, unpadded, windows

SIGNATURE = "(n,c,d<17,h,w)"
ANALYTIC = True
MULTILINEAR = True
EXACT = ("forward",)


def forward(x: Array, *, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1) -> Array:
    pads, kernel = per_axis(padding, 3), per_axis(kernel_size, 3)
    cols = columns(padded(x, pads, pads), kernel, per_axis(stride, 3), per_axis(dilation, 3))
    ask_for_windows(cols.shape[5:], kernel, x.shape[2:])
    return np.reshape(cols, (x.shape[0], x.shape[1] * math.prod(kernel), math.prod(cols.shape[5:])))


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
    kernel, strides, pads, dils = (per_axis(v, 3) for v in (kernel_size, stride, padding, dilation))
    size = x.shape[2:]
    out = tuple(windows(*v) for v in zip(size, kernel, strides, pads, dils, strict=True))
    wide = tuple(s + 2 * p for s, p in zip(size, pads, strict=True))
    cols = np.reshape(g, (*x.shape[:2], *kernel, *out))
    return unpadded(fold(cols, wide, strides, dils), pads, size)


def torch(torch: Any, x: Any, *, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1) -> Any:
    kernel, strides, pads, dils = (per_axis(v, 3) for v in (kernel_size, stride, padding, dilation))
    wide = torch.nn.functional.pad(x, [p for p in reversed(pads) for _ in range(2)])
    rows = zip(wide.shape[2:], kernel, strides, dils, strict=True)
    starts = [[slice(i * d, n - (k - 1 - i) * d, s) for i in range(k)] for n, k, s, d in rows]
    cells = [wide[(slice(None), slice(None), *where)] for where in itertools.product(*starts)]
    return torch.stack([c.flatten(2) for c in cells], 2).flatten(1, 2)
