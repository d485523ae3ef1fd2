"""One buffer of a call: what it holds before, poison and canaries included, and what was done to it since.

It ends against an unreadable page, or begins at one; the bytes between it and its page's edge hold a canary, results
hold poison. With soft guards the pages between are readable and hold the canary too: a crashed case that runs again so
tells a step out of bounds (it survives) from any other crash.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from opproof.backends.worker.protocol import BufferRef, dtype_of, name_of
from opproof.cases._layouts import row_major
from opproof.core.arrays import Array, allocate_tensor, bytes_of, has_same_bits

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


def find_unwritten(array: Array) -> NDArray[np.bool_]:
    """Which elements of a contiguous array still hold poison."""
    pattern = POISON.get(name_of(array.dtype))
    if pattern is not None:
        return array.view(_WORDS[array.dtype.itemsize]) == pattern  # type: ignore[no-any-return]
    if array.dtype.itemsize < 4 and array.dtype != bool:  # any may be an answer; one never written is a wrong value
        return np.zeros(array.shape, dtype=bool)
    raw = np.ascontiguousarray(array).view(np.uint8).reshape(*array.shape, array.dtype.itemsize)
    return np.all(raw == 0xA5, axis=-1)  # type: ignore[no-any-return]


_CANARIES = bytes([CANARY]) * 2**16
#: Bytes of a buffer up to which what it holds at first is kept, for other results that lie alike.
_MAX_SHARED_IMAGE_BYTES = 2**14
#: Bytes of a tensor from which what it holds is not written out a second time, and that are compared at once.
_MIN_LARGE_TENSOR_BYTES = 2**20
_COMPARED_PIECE_BYTES = 2**22


class Buffer(NamedTuple):
    """One buffer: `low` to `high` in the arena hold `image`, canaries and all; its own bytes are `start` to `end`."""

    name: str
    low: int
    start: int
    end: int
    high: int
    dtype: np.dtype[Any]
    given: Bytes | None = None  # what it holds where that is more than poison
    result: int | None = None  # the number of the result that lies in it; None for what the backend is given
    between: NDArray[np.intp] | None = None  # which of its own bytes no element of the result lies on
    values: Bytes | None = None  # what a large one holds between `start` and `end`, in place of `given`

    @property
    def image(self) -> Bytes:
        """What it holds before the call."""
        if self.given is not None:
            return self.given
        if self.values is not None:
            image = allocate_tensor([self.high - self.low], np.uint8)
            self.lay(image)
            return image
        poisoned = np.empty(self.high - self.low, np.uint8)
        poisoned[:] = CANARY
        poison(poisoned[self.start - self.low : self.end - self.low], self.dtype)
        return poisoned

    def lay(self, room: Bytes, *, as_left: bool = False) -> None:
        """Write into `room` what it holds before the call. Poison is made anew: a large result is not held twice.

        `as_left`: a result without gaps keeps what lies there instead.
        """
        if self.given is not None:
            room[:] = self.given
        elif self.values is not None:
            room[: self.start - self.low] = CANARY
            room[self.start - self.low : self.end - self.low] = self.values
            room[self.end - self.low :] = CANARY
        elif as_left and self.between is None:
            room[: self.start - self.low] = CANARY
            room[self.end - self.low :] = CANARY
        elif room.size <= _MAX_SHARED_IMAGE_BYTES:
            room[:] = _make_poisoned(self.start - self.low, self.end - self.start, self.high - self.end, self.dtype)
        else:
            room[:] = CANARY
            poison(room[self.start - self.low : self.end - self.low], self.dtype)

    def holds(self, now: Bytes) -> bool:
        """Whether `now` is what it holds before the call."""
        if self.values is None:
            return has_same_bits(now, self.image)
        before, after = self.start - self.low, self.end - self.low
        return (
            _is_unharmed(now[:before]) and _is_unharmed(now[after:]) and has_same_bits(now[before:after], self.values)
        )

    def describe_trespass(self, now: Bytes) -> str:
        """What was written outside the buffer, in words; empty when nothing was."""
        before, after = self.start - self.low, self.end - self.low
        for side, past in ((now[after:], True), (now[:before], False)):
            if _is_unharmed(side):
                continue
            changed = np.flatnonzero(side != CANARY)
            where = "past its end" if past else "before its beginning"
            distance = int(changed[0]) if past else int(side.size - 1 - changed[-1])
            return f"{changed.size} bytes {where} were written, the nearest {distance} bytes away"
        if self.between is not None and self.between.size:
            gaps = self.between + before
            changed = np.flatnonzero(now[gaps] != self.image[gaps])
            if changed.size:
                return f"{changed.size} bytes between its elements were written, the first {self.between[changed[0]]}"
        return ""

    def changed(self, now: Bytes) -> str:
        """What was written to the buffer itself, in words; empty for a result, which is to be written."""
        if self.result is not None:
            return ""
        before, after = self.start - self.low, self.end - self.low
        own, held = now[before:after], self.image[before:after] if self.values is None else self.values
        parts = (slice(i, i + _COMPARED_PIECE_BYTES) for i in range(0, own.size, _COMPARED_PIECE_BYTES))
        count = sum(int(np.count_nonzero(own[part] != held[part])) for part in parts)
        return f"{count} of {self.end - self.start} bytes changed during the call" if count else ""


def make_image(values: Array, place: BufferRef, low: int, start: int, end: int, high: int) -> Bytes:
    """What memory from `low` to `high` is to hold, with `values` between `start` and `end`; gaps hold poison."""
    before, after = start - low, high - end
    if values.nbytes == end - start and max(before, after) <= len(_CANARIES) and is_row_major_at(place):
        return np.frombuffer(_CANARIES[:before] + values.tobytes() + _CANARIES[:after], np.uint8)
    image = allocate_tensor([high - low], np.uint8)
    image[...] = CANARY
    if values.nbytes != end - start:
        poison(image[start - low : end - low], values.dtype)
    array: Array = np.ndarray(values.shape, values.dtype, image.data, place.offset - low, place.strides)
    array[...] = values
    return image


def find_changed(buffers: Iterable[Buffer], now: Sequence[Bytes]) -> Iterable[tuple[Buffer, Bytes]]:
    """The buffers that are not what they were, with what they are; one comparison each where nothing changed."""
    for buffer, data in zip(buffers, now, strict=True):
        if buffer.result is not None or not buffer.holds(data):
            yield buffer, data


def find_bytes_as_written(values: Array, place: BufferRef, start: int, end: int) -> Bytes | None:
    """The bytes of a large tensor that lie between `start` and `end` as they are; None where an image must be made."""
    large = values.nbytes == end - start >= _MIN_LARGE_TENSOR_BYTES
    return bytes_of(values) if large and values.flags.c_contiguous and is_row_major_at(place) else None


def is_row_major_at(place: BufferRef) -> bool:
    """Whether the elements of an array follow one another, the last index fastest."""
    return _is_row_major(place.shape, place.strides, dtype_of(place.dtype).itemsize)


@functools.lru_cache(4096)
def _is_row_major(shape: tuple[int, ...], strides: tuple[int, ...], item: int) -> bool:
    return all(n <= 1 or s == d * item for n, s, d in zip(shape, strides, row_major(shape), strict=True))


@functools.lru_cache(512)
def _make_poisoned(before: int, size: int, after: int, dtype: np.dtype[Any]) -> Bytes:
    """What such a result holds before the call: canaries, poison, canaries. Read-only."""
    image = np.full(before + size + after, CANARY, np.uint8)
    poison(image[before : before + size], dtype)
    image.flags.writeable = False
    return image


def _is_unharmed(side: Bytes) -> bool:
    """Whether a side of a buffer holds canaries alone."""
    if side.size <= len(_CANARIES):
        return side.tobytes() == _CANARIES[: side.size]
    return bool((side == CANARY).all())
