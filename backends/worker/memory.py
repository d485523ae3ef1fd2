"""The memory that the tensors of a call lie in: shared with the judge, or the host's own.

The judge lays everything out, tensors, canaries and poison; a host only makes the pages between them unreadable.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.backends.worker.protocol import Range

PAGE = mmap.PAGESIZE

#: Of <sys/mman.h>.
_PROT_NONE = 0
_PROT_READ_WRITE = 3


class Arena:
    """A mapping that grows; `descriptor` of a file that the judge has mapped too, or -1 for memory of its own."""

    def __init__(self, descriptor: int = -1) -> None:
        self._descriptor = descriptor
        self._guards: set[Range] = set()
        self._parts: dict[Range, Sequence[Range]] = {}  # what was asked last of each, since anything was changed
        self.memory: NDArray[np.uint8] = np.empty(0, np.uint8)
        self._address = 0

    def grow(self, size: int) -> None:
        """Map at least `size` bytes. Arrays of a smaller mapping stay what they are."""
        if self.memory.size >= size:
            return
        if self._descriptor < 0:
            mapped = mmap.mmap(-1, _round_to_pages(size))
        else:
            mapped = mmap.mmap(self._descriptor, os.fstat(self._descriptor).st_size)
        self.memory, self._guards, self._parts = np.frombuffer(mapped, np.uint8), set(), {}
        self._address = self.memory.ctypes.data

    def guard(self, ranges: Sequence[Range], low: int = 0, high: int = sys.maxsize) -> None:
        """Make these ranges of whole pages, counted from `low`, unreadable; others between `low` and `high` readable.

        What is so already stays as it is: guards lie alike between the small tensors of most calls.
        """
        if self._parts.get((low, high)) == ranges:
            return
        wanted = {(low + start, low + end) for start, end in ranges}
        stale = {(start, end) for start, end in self._guards - wanted if start < high and end > low}
        new = wanted - self._guards
        for start, end in stale:
            self._protect(start, end, _PROT_READ_WRITE)
        for start, end in new:
            self._protect(start, end, _PROT_NONE)
        if stale or new:
            self._guards = (self._guards - stale) | wanted
            self._parts.clear()
        self._parts[low, high] = ranges

    def _protect(self, start: int, end: int, how: int) -> None:
        function = _load_mprotect()
        if function is not None:
            function(self._address + start, end - start, how)


def _round_to_pages(size: int) -> int:
    return -(-max(size, 1) // PAGE) * PAGE


@cache
def _load_mprotect() -> Any:
    if sys.platform == "win32":
        return None
    function = ctypes.CDLL(None, use_errno=True).mprotect
    function.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return function
