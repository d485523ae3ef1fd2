"""The answer of one call of a block: what its results hold before it, and where they are put for who looks at them."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from opproof.backends.host.calls import Stored
from opproof.backends.host.request import Place, dtype_of
from opproof.backends.host.serve import Answer, Outcome, taken
from opproof.core.arrays import Array

#: Results begin at multiples of so many bytes.
_APART = 64
#: Elements at each end that stay where others are moved.
ENDS = 16


def aligned(dtype: str, shape: tuple[int, ...], alignment: int) -> Array:
    """An array that begins where `alignment` asks for."""
    kind = np.dtype(dtype_of(dtype))
    size = int(np.prod(shape)) * kind.itemsize
    memory = np.zeros(size + alignment, np.uint8)
    start = -memory.ctypes.data % alignment
    return np.ndarray(shape, kind, memory[start : start + max(size, 1)].data)


def room_for(results: Sequence[tuple[str, tuple[int, ...]] | None]) -> tuple[list[Place | None], int]:
    """Places one after the other for results of these dtypes and shapes, rows in order, and the bytes of all."""
    places: list[Place | None] = []
    size = 0
    for result in results:
        if result is None:
            places.append(None)
            continue
        dtype, shape = result
        item = dtype_of(dtype).itemsize
        strides = tuple(math.prod(shape[k + 1 :]) * item for k in range(len(shape)))
        places.append(Place(dtype, shape, strides, size))
        size += -(-math.prod(shape) * item // _APART) * _APART
    return places, size


def poisoned(results: Sequence[Array | None], words: Sequence[bytes | None]) -> None:
    """Fill contiguous results, each with the bytes of an element of its own."""
    for result, word in zip(results, words, strict=True):
        if result is not None and word is not None:
            raw = result.reshape(-1).view(np.uint8).reshape(-1, result.itemsize)
            raw[...] = np.frombuffer(word, np.uint8)


def answered(returned: Any, places: Sequence[Place | None], memory: Array, narrow: Collection[np.dtype[Any]]) -> Answer:
    """What a call gave, copied to its places in `memory`: the answer as `serve.answer` has it."""
    try:
        return Answer(Outcome.DONE, results=taken(returned, places, memory, narrow))
    except TypeError as error:  # it is no array
        return Answer(Outcome.FAILED, str(error))


def moved(stored: Stored, by: int) -> bytes:
    """The storage, whose elements follow one another, with those between its ends moved round by `by`."""
    if not by:
        return stored.storage
    elements = np.frombuffer(stored.storage, np.uint8).reshape(-1, dtype_of(stored.dtype).itemsize).copy()
    elements[ENDS:-ENDS] = np.roll(elements[ENDS:-ENDS], by, axis=0)
    return elements.tobytes()
