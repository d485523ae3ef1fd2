"""Changes of lists of arrays, results or inputs, that keep shapes and dtypes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from opproof.core.arrays import Array

Arrays = list[Array | None]


#: Floats that NumPy has not.
_FOREIGN = ("bfloat16", "float8_e4m3fn", "float8_e5m2")


def is_float(x: Array | None) -> bool:
    """Whether `x` is a float array, bfloat16 and floats of 8 bits included."""
    return x is not None and (x.dtype.kind == "f" or x.dtype.name in _FOREIGN)


def is_number(x: Array | None) -> bool:
    """Whether `x` holds floats, or whole numbers that may be data: places are int64."""
    return x is not None and (is_float(x) or (x.dtype.kind in "iu" and x.dtype.itemsize < 8))


def on_all(change: Callable[[Array], Array], arrays: Sequence[Array | None]) -> Arrays:
    """Every non-empty array changed, whole numbers and truth values too."""
    return [
        change(y.copy(order="C")) if y is not None and y.size and not is_float(y) else changed(y, change)
        for y in arrays
    ]


def on_floats(change: Callable[[Array], Array], arrays: Sequence[Array | None]) -> Arrays:
    """Every non-empty float array changed, in float64, and stored in its own dtype; all others as they are."""
    return [changed(y, change) if is_float(y) else y for y in arrays]


def changed(y: Array | None, change: Callable[[Array], Array]) -> Array | None:
    """`change` of a float64 copy of `y`, stored in the dtype of `y`."""
    if y is None or not y.size:
        return y
    with np.errstate(all="ignore"):
        wide = y.astype(np.float64, order="C")
        return change(wide).astype(y.dtype, order="C")


def same_bits(a: Sequence[Array | None], b: Sequence[Array | None]) -> bool:
    """Whether two lists of arrays are the same bit for bit, but for what stands in a NaN."""
    return len(a) == len(b) and all(
        (x is None and y is None)
        or (x is not None and y is not None and (x.shape, x.dtype) == (y.shape, y.dtype) and _bits(x) == _bits(y))
        for x, y in zip(a, b, strict=True)
    )


def _bits(x: Array) -> bytes:
    if is_float(x):
        x = np.where(np.isnan(x), x.dtype.type(np.nan), x)
    return np.ascontiguousarray(x).tobytes()


def mapped(change: Callable[[Any], Any], values: Any) -> Any:
    """`change` of everything in nested tuples and lists."""
    if isinstance(values, tuple | list):
        return type(values)(mapped(change, v) for v in values)
    return change(values)
