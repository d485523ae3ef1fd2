"""Guarded memory: every buffer touches an unreadable page, so that one step too far is seen.

A buffer ends against the guard page (at_end) or begins at one. The bytes between the buffer and
its page's edge, which alignment forces, hold a canary. In soft mode the guards are readable and
hold the canary too: rerunning a crashed case so tells a read or write out of bounds (it survives)
from any other crash.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.cases._layouts import Storage

PAGE = mmap.PAGESIZE
GUARD = 16 * PAGE
CANARY = 0xC3

#: Signalling NaNs: a sum onto them is quieted and so told from an element never written.
POISON: dict[str, int] = {"float64": 0xFFF5A5A5A5A5A5A5, "float32": 0xFFA5A5A5, "float16": 0xFDA5, "bfloat16": 0xFFA5}


@dataclass(frozen=True)
class Buffer:
    """A guarded buffer: `data` is its bytes, `before` and `after` the canaries on its sides, `zone` all three."""

    data: NDArray[np.uint8]
    before: NDArray[np.uint8]
    after: NDArray[np.uint8]
    zone: NDArray[np.uint8]

    def trespass(self) -> str:
        """What was written outside the buffer, in words; empty when nothing was."""
        for side, name in ((self.after, "past its end"), (self.before, "before its beginning")):
            changed = np.flatnonzero(side != CANARY)
            if changed.size:
                distance = int(changed[0]) if side is self.after else int(side.size - 1 - changed[-1])
                return f"{changed.size} bytes {name} were written, the nearest {distance} bytes away"
        return ""


@cache
def _mprotect() -> Any:
    if sys.platform == "win32":
        return None
    function = ctypes.CDLL(None, use_errno=True).mprotect
    function.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return function


def guarded(nbytes: int, *, at_end: bool, soft: bool, alignment: int = 64) -> Buffer:
    """`nbytes` of memory that end against a guard (up to `alignment`), or begin at one."""
    room = -(-max(nbytes, 1) // alignment) * alignment
    inner = -(-room // PAGE) * PAGE
    pages = mmap.mmap(-1, inner + 2 * GUARD)
    view = np.frombuffer(pages, dtype=np.uint8)
    start = GUARD + (inner - room if at_end else 0)
    low, high = (0, view.size) if soft else (GUARD, GUARD + inner)
    view[low:start] = CANARY
    view[start + nbytes : high] = CANARY
    if not soft and (protect := _mprotect()) is not None:
        address = view.__array_interface__["data"][0]
        protect(address, GUARD, mmap.PROT_NONE if hasattr(mmap, "PROT_NONE") else 0)
        protect(address + GUARD + inner, GUARD, 0)
    return Buffer(view[start : start + nbytes], view[low:start], view[start + nbytes : high], view[low:high])


def arrange(values: NDArray[Any], storage: Storage, buffer: Buffer) -> NDArray[Any]:
    """`values` laid out in `buffer` as `storage` says; gaps hold poison."""
    item = values.dtype.itemsize
    poison(buffer, values.dtype)
    strides = tuple(s * item for s in storage.strides)
    array: NDArray[Any] = np.ndarray(values.shape, values.dtype, buffer.data, storage.offset * item, strides)
    array[...] = values
    return array


def poison(buffer: Buffer, dtype: np.dtype[Any]) -> None:
    """Fill the buffer with signalling NaNs, or 0xA5 bytes where the dtype has none."""
    if dtype.name in POISON and buffer.data.size:
        buffer.data.view(f"u{dtype.itemsize}")[...] = POISON[dtype.name]
    else:
        buffer.data[...] = 0xA5


def unwritten(array: NDArray[Any]) -> NDArray[np.bool_]:
    """Which elements of a contiguous array still hold poison."""
    if array.dtype.name in POISON:
        return array.view(f"u{array.dtype.itemsize}") == POISON[array.dtype.name]  # type: ignore[no-any-return]
    if array.dtype == np.uint8:  # any byte may be an answer; one never written shows as a wrong value
        return np.zeros(array.shape, dtype=bool)
    raw = np.ascontiguousarray(array).view(np.uint8).reshape(*array.shape, array.dtype.itemsize)
    return np.all(raw == 0xA5, axis=-1)  # type: ignore[no-any-return]
