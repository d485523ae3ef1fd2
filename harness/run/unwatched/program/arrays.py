"""Arrays as a program has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

Arrays: TypeAlias = Sequence[Any]
Data: TypeAlias = tuple[Arrays, Arrays]  # inputs and cotangents


def placed(array: Any, alignment: int) -> Any:
    """A copy at a multiple of `alignment` bytes."""
    return None if array is None else beside([array], alignment)[0]


def beside(arrays: Arrays, alignment: int) -> list[Any]:
    """Copies in one array, each at a multiple of `alignment` bytes, as batches of a set of data lie."""
    dtype = arrays[0].dtype
    steps = [-(-a.nbytes // alignment) * alignment // dtype.itemsize for a in arrays]
    room = np.empty(sum(steps) + alignment // dtype.itemsize, dtype)
    copies, at = [], -room.ctypes.data % alignment // dtype.itemsize
    for array, step in zip(arrays, steps, strict=True):
        copies.append(room[at : at + array.size].reshape(array.shape))
        copies[-1][...] = array
        at += step
    return copies


def copied(results: Arrays) -> list[Any]:
    """What they hold now."""
    return [None if y is None else np.array(y) for y in results]


def is_other(copies: Arrays, results: Arrays) -> bool:
    """Whether results hold other bits than their copies of earlier, or there are none."""
    return len(copies) != len(results) or any(
        (a is None) != (b is None) or (a is not None and np.asarray(a).tobytes() != np.asarray(b).tobytes())
        for a, b in zip(copies, results, strict=True)
    )


def filled(data: Data, numbers: Data) -> Data:
    """The same memory with these numbers."""
    for here, there in zip((*data[0], *data[1]), (*numbers[0], *numbers[1]), strict=True):
        if here is not None:
            here[...] = there
    return data


def are_shared(inputs: Arrays, results: Arrays) -> bool:
    """Whether a result is memory of an input."""
    return any(
        x is not None and y is not None and np.may_share_memory(x, np.asarray(y)) for x in inputs for y in results
    )
