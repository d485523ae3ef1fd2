"""The type of arrays, their allocation and equality bit for bit, and the two domains that are no open interval.

`Closed` has its ends among its numbers, as targets, weights and gates do. `Whole` is of integers that are an operator's
data, not places that it reads at.
"""

from __future__ import annotations

import math
import mmap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]

#: Bytes that are compared at once: a large array has no second of its size beside it.
_PIECE_BYTES = 2**22
#: Bytes of which two copies are compared sooner than the elements.
_MAX_COPIED_BYTES = 2**16
#: Bytes from which a tensor of a case lies in memory of its own, apart from what a judge works in.
_MIN_APART_BYTES = 2**24


def allocate_tensor(shape: Sequence[int], dtype: Any) -> Array:
    """An array for a tensor of a case, its data or an answer; it holds anything.

    A large one lies in a mapping of its own that is shared: it is not counted as memory of the judge alone (RssAnon),
    not limited with that (harness/run/memory_limits.py), and given back as soon as nobody holds it.
    """
    dtype = np.dtype(dtype)
    size = math.prod(shape) * dtype.itemsize
    if size < _MIN_APART_BYTES:
        return np.empty(shape, dtype)
    return np.frombuffer(mmap.mmap(-1, size), dtype).reshape(shape)


def bytes_of(array: Array) -> NDArray[np.uint8]:
    """The bytes of an array, row after row; of a contiguous one without a copy."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def has_same_bits(a: Array, b: Array) -> bool:
    """Whether the elements of two arrays have the same bytes, row after row."""
    if a.nbytes <= _MAX_COPIED_BYTES and b.nbytes <= _MAX_COPIED_BYTES:
        return a.tobytes() == b.tobytes()
    x, y = bytes_of(a), bytes_of(b)
    parts = (slice(i, i + _PIECE_BYTES) for i in range(0, x.size, _PIECE_BYTES))
    return x.size == y.size and all(np.array_equal(x[part], y[part]) for part in parts)


@dataclass(frozen=True)
class Closed:
    """From `low` to `high`, both of them included where they are finite; a plain pair leaves its ends out.

    `usual` is the pair in which what does not sit on ends is drawn, where it is another one.
    """

    low: float
    high: float
    usual: tuple[float, float] | None = None

    @property
    def within(self) -> tuple[float, float]:
        """Where ordinary numbers are drawn."""
        return (self.low, self.high) if self.usual is None else self.usual


@dataclass(frozen=True)
class Whole:
    """int64 of `allowed` in a case of floats; in a case of integers, numbers of its dtype.

    `places`: how far bits are moved, which is at least 0 and less than the dtype's bits.
    """

    allowed: range
    places: bool = False


def is_number(value: Any) -> bool:
    """Whether it is a number of Python's, which a truth value is not."""
    return isinstance(value, int | float) and not isinstance(value, bool)
