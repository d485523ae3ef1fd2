"""Where ggml looks for the rows of a tensor when it does not look at all strides. Strides are in elements."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Shape = tuple[int, ...]


def strides_of_row_major(shape: Shape) -> Shape:
    """Strides of a tensor without gaps."""
    return tuple(math.prod(shape[i + 1 :]) for i in range(len(shape)))


def offsets_of_rows(shape: Shape, strides: Shape) -> Any:
    """Where each row of a tensor begins."""
    places = np.zeros(shape[:-1], dtype=np.int64)
    for axis, (n, step) in enumerate(zip(shape[:-1], strides[:-1], strict=True)):
        places = places + np.reshape(np.arange(n) * step, (n, *(1,) * (len(shape) - axis - 2)))
    return places


def find_rows_off_stride(shape: Shape, strides: Shape) -> Any:
    """Which rows do not lie at their number times the stride of rows; none where rows have gaps and are copied."""
    if len(shape) < 2 or strides[-1] != 1:
        return np.zeros(shape[:-1], dtype=bool)
    number = np.reshape(np.arange(math.prod(shape[:-1])), shape[:-1])
    return offsets_of_rows(shape, strides) != number * strides[-2]


def find_counted_rows(shape: Shape) -> Any:
    """The places of the elements that ggml_count_equal compares."""
    n3, n2, n1, n0 = (*(1,) * 4, *shape)[-4:] if len(shape) <= 4 else (math.prod(shape[:-3]), *shape[-3:])
    row = np.arange(n3 * n2 * n1)
    if not row.size or not n0:
        return np.zeros(0, dtype=np.int64)
    i3 = row // (n2 * n1)
    i2 = np.trunc((row - i3 * n3) / n1).astype(np.int64)  # as C divides, which negative numbers tell
    i1 = row - i3 * n3 - i2 * n2
    return (i3 * n2 * n1 * n0 + i2 * n1 * n0 + i1 * n0)[:, None] + np.arange(n0)


def find_rows_off_stride_along(shape: Shape, strides: Shape, dim: int) -> Any:
    """`find_rows_off_stride` of a tensor whose axis `dim` is made the last; as the tensor."""
    order = list(range(len(shape)))
    order[dim], order[-1] = order[-1], order[dim]
    turned = tuple(shape[i] for i in order)
    wrong = find_rows_off_stride(turned, tuple(strides[i] for i in order))
    return np.broadcast_to(wrong[..., None], turned).transpose(order)


def find_rows_apart(shape: Shape, strides: Shape) -> Any:
    """Which rows do not lie where those of a tensor without gaps would; none where rows have gaps and are copied."""
    if not shape or (shape[-1] > 1 and strides[-1] != 1):
        return np.zeros(shape[:-1], dtype=bool)
    return offsets_of_rows(shape, strides) != offsets_of_rows(shape, strides_of_row_major(shape))
