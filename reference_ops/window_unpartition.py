"""window_unpartition: an image put together from square windows, without what fills them up beyond its edges.

Shapes: x (n rows columns, window_size, window_size, c), windows row by row; y (n, h, w, c) with size = (h, w),
rows = ceil(h / window_size) and columns = ceil(w / window_size).
Gradient: g cut into windows, zero where they reach beyond the image.
Source: Kirillov et al., Segment Anything (2023); Li et al., Exploring Plain Vision Transformer Backbones (2022).
PyTorch: none. ONNX: none. ggml: ggml_win_unpart (n = 1).
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

ANALYTIC = True
MULTILINEAR = True
EXACT = ("forward", "vjp")
KINDS = ("float8", "signed", "unsigned")


def _grid(x: Array, size: tuple[int, int]) -> tuple[int, int, int]:
    """How many images, and rows and columns of windows in each."""
    rows, columns = -(-size[0] // x.shape[1]), -(-size[1] // x.shape[1])
    return x.shape[0] // (rows * columns), rows, columns


def forward(x: Array, *, size: tuple[int, int]) -> Array:
    (n, rows, columns), (_, s, _, c) = _grid(x, size), x.shape
    whole = np.reshape(np.swapaxes(np.reshape(x, (n, rows, columns, s, s, c)), 2, 3), (n, rows * s, columns * s, c))
    return whole[:, : size[0], : size[1]]


def vjp(g: Array, y: Array, x: Array, *, size: tuple[int, int]) -> Array:
    (n, rows, columns), (_, s, _, c) = _grid(x, size), x.shape
    wide = np.pad(g, ((0, 0), (0, rows * s - size[0]), (0, columns * s - size[1]), (0, 0)))
    return np.reshape(np.swapaxes(np.reshape(wide, (n, rows, s, columns, s, c)), 2, 3), x.shape)


def torch(torch: Any, x: Any, *, size: tuple[int, int]) -> Any:
    s, c = x.shape[1], x.shape[3]
    rows, columns = -(-size[0] // s), -(-size[1] // s)
    # torch.fold of windows that do not overlap, one column each.
    columns_of = x.reshape(-1, rows * columns, s * s, c).permute(0, 3, 2, 1).reshape(-1, c * s * s, rows * columns)
    whole = torch.nn.functional.fold(columns_of, (rows * s, columns * s), s, stride=s)
    return whole[:, :, : size[0], : size[1]].permute(0, 2, 3, 1)
