"""window_partition: an image cut into square windows, those at the right and bottom edges filled up with zeros.

Shapes: x (n, h, w, c); y (n rows columns, window_size, window_size, c) with rows = ceil(h / window_size) and columns =
ceil(w / window_size), windows row by row.
Gradient: the windows of g put together again, without what filled them up.
Source: Kirillov et al., Segment Anything (2023); Li et al., Exploring Plain Vision Transformer Backbones (2022).
PyTorch: none. ONNX: none. ggml: ggml_win_part (n = 1).
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

SIGNATURE = "(n,h,w,c)"
ANALYTIC = True
MULTILINEAR = True
EXACT = ("forward", "vjp")
KINDS = ("float8", "signed", "unsigned")


def forward(x: Array, *, window_size: int) -> Array:
    n, h, w, c = x.shape
    rows, columns = -(-h // window_size), -(-w // window_size)
    wide = np.pad(x, ((0, 0), (0, rows * window_size - h), (0, columns * window_size - w), (0, 0)))
    cut = np.reshape(wide, (n, rows, window_size, columns, window_size, c))
    return np.reshape(np.swapaxes(cut, 2, 3), (n * rows * columns, window_size, window_size, c))


def vjp(g: Array, y: Array, x: Array, *, window_size: int) -> Array:
    n, h, w, c = x.shape
    rows, columns = -(-h // window_size), -(-w // window_size)
    cut = np.swapaxes(np.reshape(g, (n, rows, columns, window_size, window_size, c)), 2, 3)
    return np.reshape(cut, (n, rows * window_size, columns * window_size, c))[:, :h, :w]


def torch(torch: Any, x: Any, *, window_size: int) -> Any:
    h, w, c = x.shape[1:]
    if not x.numel():  # PyTorch unfolds no empty axis
        count = x.shape[0] * -(-h // window_size) * -(-w // window_size)
        return x.reshape(count, window_size, window_size, c)
    wide = torch.nn.functional.pad(x, (0, 0, 0, -w % window_size, 0, -h % window_size))
    cut = wide.unfold(1, window_size, window_size).unfold(2, window_size, window_size)
    return cut.permute(0, 1, 2, 4, 5, 3).flatten(0, 2)
