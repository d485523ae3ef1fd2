"""How NumPy's arrays lie for ggml: four axes, the innermost first."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from opproof.backends.protocol import Unsupported
from opproof.core.arrays import Array

Shape = tuple[int, ...]


def to_four_axes(shape: Shape) -> Shape:
    """NumPy's shape as ne[4]."""
    return (*reversed(shape), 1, 1, 1, 1)[:4]


def fold_axes(array: Array) -> Array:
    """`array` with at most four axes, the first ones as one."""
    if array.ndim <= 4:
        return array
    shape = (math.prod(array.shape[:-3]), *array.shape[-3:])
    folded = array.reshape(shape)
    if array.size and not np.may_share_memory(folded, array):
        raise Unsupported(f"a ggml tensor has at most 4 axes, and these {array.ndim} do not lie in memory as 4 would")
    return folded


def strides_of(array: Array) -> Shape:
    """nb[4] of an array; an axis of size 1 gets the stride it would have without gaps."""
    strides, step = [], array.itemsize
    for size, stride in zip(reversed(array.shape), reversed(array.strides), strict=True):
        strides.append(step if size == 1 else stride)
        step = strides[-1] * size
    while len(strides) < 4:
        strides.append(step)
    return tuple(strides)


def dtype_of(name: str) -> np.dtype[Any]:
    """NumPy's type of one of ggml's."""
    if name == "bf16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)  # type: ignore[no-any-return]
    return np.dtype({"f": "float", "i": "int"}[name[0]] + name[1:])
