"""searchsorted: where each value would go in a sorted row, before what is equal to it, or behind it where right.

Shapes: sorted (..., n) ascending and values (..., m), or sorted (n,) and values any; y int64 as values.
NaN goes to the end.
Gradient: none, the output is a number of places.
Source: Knuth, The Art of Computer Programming 3, 6.2.1.
PyTorch: torch.searchsorted, torch.bucketize. ONNX: none. ggml: none.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array

SIGNATURE = "(...,n),(...,m) | (n),(...)"
EXACT = ("forward",)
TRAITS = ("ordered",)
#: Numbers that a row is drawn from: multiples of a quarter, of which every dtype has all.
_DRAWN, _STEP = 33, 0.25


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"sorted": _ascending}


def _ascending(
    bits: Callable[[int], NDArray[np.uint64]], shape: tuple[int, ...], *, every: bool = False
) -> NDArray[np.float64]:
    drawn = (bits(math.prod(shape)) >> np.uint64(11)) % np.uint64(_DRAWN)
    return np.sort(((drawn.astype(np.float64) - _DRAWN // 2) * _STEP).reshape(shape), axis=-1)


def forward(sorted: Array, values: Array, *, right: bool = False) -> Array:
    side = "right" if right else "left"
    if sorted.ndim == 1:
        return np.searchsorted(sorted, values, side)  # type: ignore[call-overload,no-any-return]
    if sorted.shape[:-1] != values.shape[:-1]:
        raise ValueError(f"rows of {sorted.shape} are not those of {values.shape}")
    count = math.prod(values.shape[:-1])
    rows, asked = sorted.reshape(count, sorted.shape[-1]), values.reshape(count, values.shape[-1])
    y = np.zeros(asked.shape, dtype=np.int64)
    for i in range(len(y)):
        y[i] = np.searchsorted(rows[i], asked[i], side)  # type: ignore[call-overload]
    return y.reshape(values.shape)


def torch(torch: Any, sorted: Any, values: Any, *, right: bool = False) -> Any:
    return torch.searchsorted(sorted.contiguous(), values.contiguous(), right=right)
