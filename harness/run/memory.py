"""The memory of a call: guard pages, canaries, poison, strides, as laid out before and looked at after.

A buffer ends against an unreadable page, or begins at one; the bytes between it and its page's edge hold a canary,
results hold poison. With soft guards the pages between are readable and hold the canary too: a crashed case that runs
again so tells a step out of bounds (it survives) from any other crash.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from opproof.backends.worker.memory import PAGE
from opproof.backends.worker.protocol import BufferRef, WireRequest, dtype_of, name_of
from opproof.cases._layouts import Storage, cotangent_layout, layouts_of, row_major, storage_of
from opproof.core.arrays import Array, allocate_tensor, bytes_of, has_same_bits
from opproof.core.dtypes import DTYPES
from opproof.core.errors import CaseError
from opproof.core.verdicts import Mode
from opproof.harness.reference.data import to_dtype
from opproof.harness.run.request import Request, Wanted

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
#: Bytes that are compared at once.
_COMPARED_PIECE_BYTES = 2**22


class Buffer(NamedTuple):
    """One buffer: from `low` to `high` in the arena, canaries and all; its own bytes are `start` to `end`."""

    name: str
    low: int
    start: int
    end: int
    high: int
    dtype: np.dtype[Any]
    values: Bytes | None = None  # what its own bytes hold where that is more than poison
    result: int | None = None  # the number of the result that lies in it; None for what the backend is given
    between: NDArray[np.intp] | None = None  # which of its own bytes no element of the result lies on

    @property
    def held(self) -> Bytes:
        """Its own bytes before the call. Poison is made anew: a large result is not held twice."""
        if self.values is not None:
            return self.values
        poisoned = np.empty(self.end - self.start, np.uint8)
        poison(poisoned, self.dtype)
        return poisoned

    def split(self, room: Bytes) -> tuple[Bytes, Bytes, Bytes]:
        """What lies in `room`, from `low` to `high`, before the buffer, in it and after it."""
        before, after = self.start - self.low, self.end - self.low
        return room[:before], room[before:after], room[after:]

    def lay(self, room: Bytes, *, as_left: bool = False) -> None:
        """Write into `room` what it holds before the call; `as_left`: a result without gaps keeps what lies there."""
        before, own, after = self.split(room)
        before[:] = CANARY
        after[:] = CANARY
        if self.values is not None:
            own[:] = self.values
        elif not as_left or self.between is not None:
            poison(own, self.dtype)

    def holds(self, now: Bytes) -> bool:
        """Whether `now` is what it holds before the call."""
        before, own, after = self.split(now)
        return _is_unharmed(before) and _is_unharmed(after) and has_same_bits(own, self.held)

    def describe_trespass(self, now: Bytes) -> str:
        """What was written outside the buffer, in words; empty when nothing was."""
        before, own, after = self.split(now)
        for side, past in ((after, True), (before, False)):
            if _is_unharmed(side):
                continue
            changed = np.flatnonzero(side != CANARY)
            where = "past its end" if past else "before its beginning"
            distance = int(changed[0]) if past else int(side.size - 1 - changed[-1])
            return f"{changed.size} bytes {where} were written, the nearest {distance} bytes away"
        if self.between is not None and self.between.size:
            changed = np.flatnonzero(own[self.between] != self.held[self.between])
            if changed.size:
                return f"{changed.size} bytes between its elements were written, the first {self.between[changed[0]]}"
        return ""

    def changed(self, now: Bytes) -> str:
        """What was written to the buffer itself, in words; empty for a result, which is to be written."""
        if self.result is not None:
            return ""
        own, held = self.split(now)[1], self.held
        parts = (slice(i, i + _COMPARED_PIECE_BYTES) for i in range(0, own.size, _COMPARED_PIECE_BYTES))
        count = sum(int(np.count_nonzero(own[part] != held[part])) for part in parts)
        return f"{count} of {self.end - self.start} bytes changed during the call" if count else ""


def place_values(values: Array, place: BufferRef, start: int, end: int) -> Bytes:
    """The bytes from `start` to `end` with `values` at their place; gaps hold poison."""
    if values.nbytes == end - start and is_row_major_at(place):
        return bytes_of(values)
    room = allocate_tensor([end - start], np.uint8)
    poison(room, values.dtype)
    array: Array = np.ndarray(values.shape, values.dtype, room.data, place.offset - start, place.strides)
    array[...] = values
    return room


def find_changed(buffers: Iterable[Buffer], now: Sequence[Bytes]) -> Iterable[tuple[Buffer, Bytes]]:
    """The buffers that are not what they were, with what they are; one comparison each where nothing changed."""
    for buffer, data in zip(buffers, now, strict=True):
        if buffer.result is not None or not buffer.holds(data):
            yield buffer, data


def is_row_major_at(place: BufferRef) -> bool:
    """Whether the elements of an array follow one another, the last index fastest."""
    return _is_row_major(place.shape, place.strides, dtype_of(place.dtype).itemsize)


@functools.lru_cache(4096)
def _is_row_major(shape: tuple[int, ...], strides: tuple[int, ...], item: int) -> bool:
    return all(n <= 1 or s == d * item for n, s, d in zip(shape, strides, row_major(shape), strict=True))


def _is_unharmed(side: Bytes) -> bool:
    """Whether a side of a buffer holds canaries alone."""
    if side.size <= len(_CANARIES):
        return side.tobytes() == _CANARIES[: side.size]
    return bool((side == CANARY).all())


#: Pages between two buffers, and where they travel to another machine and back.
GUARD_PAGES = 16
TRAVEL_GUARD_PAGES = 1


@dataclass(frozen=True)
class Layout:
    """A request, and the buffers that it speaks of."""

    request: WireRequest
    buffers: tuple[Buffer, ...]
    as_left: bool = False  # results are not poisoned


def make_layout(question: Request, alignment: int, guard: int = GUARD_PAGES) -> Layout:
    """Where everything lies: inputs and cotangents as the case's layouts say, results as its destination, poisoned.

    A result in place lies where an input does, or a gradient where the first output's cotangent does, and holds that.
    """
    posed = question.posed
    layouts, dtype = layouts_of(posed.case), posed.case.dtype
    builder = _Builder(question, alignment, guard * PAGE)
    shared = find_shared_result(question)
    forward = posed.mode is Mode.FORWARD
    inputs: list[BufferRef | int | None] = []
    placed: dict[int, int] = {}  # one array given twice is one tensor
    for i, (name, values) in enumerate(zip(posed.names, posed.inputs, strict=True)):
        if values is None or name is None:
            inputs.append(None)
        elif id(values) in placed:
            inputs.append(placed[id(values)])
        else:
            placed[id(values)] = i
            storage = storage_of(values.shape, layouts[name])
            result = shared if forward and name == posed.case.inplace else None
            inputs.append(
                builder.tensor(f"input {name}", _to_native(values, posed.case.dtype_of(name)), storage, result)
            )
    given = cotangent_layout(posed.case)
    cotangents = [
        None
        if g is None
        else builder.tensor(
            f"cotangent {i}", _to_native(g, dtype), storage_of(g.shape, given), None if i or forward else shared
        )
        for i, g in enumerate(posed.cotangents)
    ]
    results = [
        None if wanted is None else builder.place_of(i, wanted, storage_of(wanted.shape, posed.case.into))
        for i, wanted in enumerate(question.wanted)
    ]
    request = WireRequest(
        op=posed.op.called,
        params=posed.params,
        gradient=posed.mode is Mode.GRADIENT,
        inputs=inputs,
        cotangents=cotangents,
        results=results,
        into=bool(posed.case.destinations),
        needs=posed.needs,
        size=builder.size,
        guards=() if question.readable_guards else builder.guards,
        zones=[(b.low, b.high) for b in builder.buffers],
        threads=question.threads,
    )
    return Layout(request, tuple(builder.buffers), question.as_left)


def _to_native(values: Array, dtype: str) -> Array:
    """`values` in their own dtype; a large case is drawn so, and not held twice."""
    return values if values.dtype == DTYPES[dtype].numpy else to_dtype(values, dtype)


def write(layout: Layout, memory: Bytes) -> None:
    """Lay everything out in the arena."""
    for b in layout.buffers:
        b.lay(memory[b.low : b.high], as_left=layout.as_left)


def take_snapshot(layout: Layout, memory: Bytes) -> list[Bytes]:
    """The buffers as they are now, results copied: what somebody writes later is not judged."""
    zones = [memory[b.low : b.high] for b in layout.buffers]
    for i, buffer in enumerate(layout.buffers):
        if buffer.result is not None:
            copy = allocate_tensor(zones[i].shape, np.uint8)
            copy[...] = zones[i]
            zones[i] = copy
    return zones


class _Builder:
    """Buffers one after the other, guards between them."""

    def __init__(self, question: Request, alignment: int, guard: int) -> None:
        self.buffers: list[Buffer] = []
        self.guards: list[tuple[int, int]] = [(0, guard)]
        self.size = guard
        self._question, self._alignment, self._guard = question, alignment, guard
        self._shared: dict[int, BufferRef] = {}  # by the number of the result that lies there

    def tensor(self, name: str, values: Array, storage: Storage, result: int | None) -> BufferRef:
        """`values` laid out as `storage` says; gaps hold poison. The result of that number is to be written there."""
        place = self._placed(name, values.shape, values.dtype, storage, result, values)
        if result is not None:
            self._shared[result] = place
        return place

    def place_of(self, number: int, wanted: Wanted, storage: Storage) -> BufferRef:
        """Poisoned memory for a result, or that of the tensor which it is to be written over. Raises CaseError."""
        shared = self._shared.get(number)
        if shared is None:
            return self._placed(wanted.name, wanted.shape, wanted.dtype, storage, number)
        if (shared.shape, shared.dtype) != (wanted.shape, name_of(wanted.dtype)):
            raise CaseError(
                f"{self._question.posed.case}: {wanted.name} is {wanted.dtype.name} of shape {wanted.shape}, and "
                f"cannot lie where {shared.dtype} of shape {shared.shape} does."
            )
        return shared

    def _placed(
        self,
        name: str,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        storage: Storage,
        result: int | None,
        values: Array | None = None,
    ) -> BufferRef:
        """Room for an array, which holds `values` or poison."""
        item = dtype.itemsize
        strides = tuple(s * item for s in storage.strides)
        offset, nbytes = storage.offset * item, storage.size * item
        between = None if result is None else _find_gaps(shape, strides, offset, nbytes, item)
        room = -(-max(nbytes, 1) // self._alignment) * self._alignment
        inner = -(-room // PAGE) * PAGE
        start = self.size + (inner - room if self._question.at_end else 0)
        end, low, high = start + nbytes, self.size, self.size + inner
        if self._question.readable_guards:
            low, high = low - self._guard // 2, high + self._guard // 2  # so that what lies between is looked at too
        self.size += inner + self._guard
        self.guards.append((self.size - self._guard, self.size))
        place = BufferRef(name_of(dtype), shape, strides, start + offset)
        held = None if values is None else place_values(values, place, start, end)
        self.buffers.append(Buffer(name, low, start, end, high, dtype, held, result, between))
        return place


def find_shared_result(question: Request) -> int | None:
    """The number of the result that lies where an input or a cotangent does; None where none does."""
    posed = question.posed
    if not posed.case.inplace:
        return None
    number = 0 if posed.mode is Mode.FORWARD else posed.names.index(posed.case.inplace)
    return number if number < len(question.wanted) and question.wanted[number] is not None else None


def _find_gaps(
    shape: tuple[int, ...], strides: tuple[int, ...], offset: int, nbytes: int, item: int
) -> NDArray[np.intp] | None:
    """The bytes of a buffer that no element lies on; None where there are none."""
    if math.prod(shape) * item == nbytes:
        return None
    free = np.ones(nbytes, np.uint8)
    for byte in range(item):
        np.ndarray(shape, np.uint8, free.data, offset + byte, strides)[...] = 0
    return np.flatnonzero(free)
