"""Array: any NumPy array, and whether two are the same, bit for bit."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]

#: Bytes that are compared at once: a large array has no second of its size beside it.
_PIECE = 2**22
#: Bytes of which two copies are compared sooner than the elements.
_SMALL = 2**16


def bytes_of(array: Array) -> NDArray[np.uint8]:
    """The bytes of an array, row after row; of a contiguous one without a copy."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def same_bits(a: Array, b: Array) -> bool:
    """Whether the elements of two arrays have the same bytes, row after row."""
    if a.nbytes <= _SMALL and b.nbytes <= _SMALL:
        return a.tobytes() == b.tobytes()
    x, y = bytes_of(a), bytes_of(b)
    parts = (slice(i, i + _PIECE) for i in range(0, x.size, _PIECE))
    return x.size == y.size and all(np.array_equal(x[part], y[part]) for part in parts)
