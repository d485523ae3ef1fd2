"""What memory holds that nobody has written yet: poison in results, canaries around buffers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.backends.worker.protocol import name_of
from opproof.core.arrays import Array

Bytes = NDArray[np.uint8]

CANARY = 0xC3

#: Signalling NaNs: a sum onto them is quieted and so told from an element never written.
POISON: dict[str, int] = {"float64": 0xFFF5A5A5A5A5A5A5, "float32": 0xFFA5A5A5, "float16": 0xFDA5, "bfloat16": 0xFFA5}

_WORDS: dict[int, np.dtype[Any]] = {size: np.dtype(f"u{size}") for size in (2, 4, 8)}


def poison(memory: Bytes, dtype: np.dtype[Any]) -> None:
    """Fill `memory` with signalling NaNs, or 0xA5 bytes where the dtype has none."""
    pattern = POISON.get(name_of(dtype))
    if pattern is not None and memory.size:
        memory.view(_WORDS[dtype.itemsize])[...] = pattern
    else:
        memory[...] = 0xA5


def unwritten(array: Array) -> NDArray[np.bool_]:
    """Which elements of a contiguous array still hold poison."""
    pattern = POISON.get(name_of(array.dtype))
    if pattern is not None:
        return array.view(_WORDS[array.dtype.itemsize]) == pattern  # type: ignore[no-any-return]
    if array.dtype.itemsize < 4 and array.dtype != bool:  # any may be an answer; one never written is a wrong value
        return np.zeros(array.shape, dtype=bool)
    raw = np.ascontiguousarray(array).view(np.uint8).reshape(*array.shape, array.dtype.itemsize)
    return np.all(raw == 0xA5, axis=-1)  # type: ignore[no-any-return]
