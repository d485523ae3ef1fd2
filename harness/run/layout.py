"""The tensors of a call in an arena, as the judge lays them out and looks at them afterwards.

Every buffer ends against an unreadable page, or begins at one. The bytes between the buffer and its page's edge, which
alignment forces, hold a canary, results hold poison. With soft guards the pages between are readable and hold the
canary too: a crashed case that runs again so tells a step out of bounds (it survives) from any other crash.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from opproof.backends.host.arena import PAGE
from opproof.backends.host.request import Place, Request, dtype_of, name_of
from opproof.cases._layouts import Storage, cotangent_layout, layouts_of, row_major, storage_of
from opproof.harness.run.question import Question, Wanted
from opproof.harness.truth.data import to_dtype
from opproof.vocabulary.arrays import Array, same_bits
from opproof.vocabulary.errors import CaseError
from opproof.vocabulary.modes import Mode

Bytes = NDArray[np.uint8]

CANARY = 0xC3
_CANARIES = bytes([CANARY]) * 2**16
#: Bytes of a buffer up to which what it holds at first is kept, for other results that lie alike.
_SMALL = 2**14
#: Pages between two buffers, and where they travel to another machine and back.
GUARD, NEAR = 16, 1

#: Signalling NaNs: a sum onto them is quieted and so told from an element never written.
POISON: dict[str, int] = {"float64": 0xFFF5A5A5A5A5A5A5, "float32": 0xFFA5A5A5, "float16": 0xFDA5, "bfloat16": 0xFFA5}

_WORDS: dict[int, np.dtype[Any]] = {size: np.dtype(f"u{size}") for size in (2, 4, 8)}


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

    @property
    def image(self) -> Bytes:
        """What it holds before the call."""
        if self.given is not None:
            return self.given
        poisoned = np.empty(self.high - self.low, np.uint8)
        poisoned[:] = CANARY
        poison(poisoned[self.start - self.low : self.end - self.low], self.dtype)
        return poisoned

    def lay(self, room: Bytes) -> None:
        """Write into `room` what it holds before the call. Poison is made anew: a large result is not held twice."""
        if self.given is not None:
            room[:] = self.given
        elif room.size <= _SMALL:
            room[:] = _poisoned(self.start - self.low, self.end - self.start, self.high - self.end, self.dtype)
        else:
            room[:] = CANARY
            poison(room[self.start - self.low : self.end - self.low], self.dtype)

    def trespass(self, now: Bytes) -> str:
        """What was written outside the buffer, in words; empty when nothing was."""
        before, after = self.start - self.low, self.end - self.low
        for side, past in ((now[after:], True), (now[:before], False)):
            if _unharmed(side):
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
        own = slice(self.start - self.low, self.end - self.low)
        count = int(np.count_nonzero(now[own] != self.image[own]))
        return f"{count} of {self.end - self.start} bytes changed during the call" if count else ""


@dataclass(frozen=True)
class Layout:
    """A request, and the buffers that it speaks of."""

    request: Request
    buffers: tuple[Buffer, ...]


def lay_out(question: Question, alignment: int, guard: int = GUARD) -> Layout:
    """Where everything lies: inputs and cotangents as the case's layouts say, results as its destination, poisoned.

    A result in place lies where an input does, or a gradient where the first output's cotangent does, and holds that.
    """
    posed = question.posed
    layouts, dtype = layouts_of(posed.case), posed.case.dtype
    builder = _Builder(question, alignment, guard * PAGE)
    shared = shared_result(question)
    forward = posed.mode is Mode.FORWARD
    inputs: list[Place | int | None] = []
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
            inputs.append(builder.tensor(f"input {name}", to_dtype(values, posed.case.dtype_of(name)), storage, result))
    given = cotangent_layout(posed.case)
    cotangents = [
        None
        if g is None
        else builder.tensor(
            f"cotangent {i}", to_dtype(g, dtype), storage_of(g.shape, given), None if i or forward else shared
        )
        for i, g in enumerate(posed.cotangents)
    ]
    results = [
        None if wanted is None else builder.place_of(i, wanted, storage_of(wanted.shape, posed.case.into))
        for i, wanted in enumerate(question.wanted)
    ]
    request = Request(
        op=posed.op.name,
        params=posed.params,
        gradient=posed.mode is Mode.GRADIENT,
        inputs=inputs,
        cotangents=cotangents,
        results=results,
        into=bool(posed.case.destinations),
        needs=posed.needs,
        size=builder.size,
        guards=() if question.soft else builder.guards,
        zones=[(b.low, b.high) for b in builder.buffers],
        threads=question.threads,
    )
    return Layout(request, tuple(builder.buffers))


def write(layout: Layout, memory: Bytes) -> None:
    """Lay everything out in the arena."""
    for b in layout.buffers:
        b.lay(memory[b.low : b.high])


def snapshot(layout: Layout, memory: Bytes) -> list[Bytes]:
    """The buffers as they are now, results copied: what somebody writes later is not judged."""
    zones = [memory[b.low : b.high] for b in layout.buffers]
    return [zone if b.result is None else zone.copy() for b, zone in zip(layout.buffers, zones, strict=True)]


class _Builder:
    """Buffers one after the other, guards between them."""

    def __init__(self, question: Question, alignment: int, guard: int) -> None:
        self.buffers: list[Buffer] = []
        self.guards: list[tuple[int, int]] = [(0, guard)]
        self.size = guard
        self._question, self._alignment, self._guard = question, alignment, guard
        self._shared: dict[int, Place] = {}  # by the number of the result that lies there

    def tensor(self, name: str, values: Array, storage: Storage, result: int | None) -> Place:
        """`values` laid out as `storage` says; gaps hold poison. The result of that number is to be written there."""
        place = self._placed(name, values.shape, values.dtype, storage, result, values)
        if result is not None:
            self._shared[result] = place
        return place

    def place_of(self, number: int, wanted: Wanted, storage: Storage) -> Place:
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
    ) -> Place:
        """Room for an array, which holds `values` or poison."""
        item = dtype.itemsize
        strides = tuple(s * item for s in storage.strides)
        offset, nbytes = storage.offset * item, storage.size * item
        between = None if result is None else _between(shape, strides, offset, nbytes, item)
        low, start, high = self._room(nbytes)
        end = start + nbytes
        place = Place(name_of(dtype), shape, strides, start + offset)
        given = None if values is None else _holding(values, place, low, start, end, high)
        self.buffers.append(Buffer(name, low, start, end, high, dtype, given, result, between))
        return place

    def _room(self, nbytes: int) -> tuple[int, int, int]:
        """Where so many bytes begin, between which others that are looked at too."""
        room = -(-max(nbytes, 1) // self._alignment) * self._alignment
        inner = -(-room // PAGE) * PAGE
        start = self.size + (inner - room if self._question.at_end else 0)
        low, high = self.size, self.size + inner
        if self._question.soft:
            low, high = low - self._guard // 2, high + self._guard // 2
        self.size += inner + self._guard
        self.guards.append((self.size - self._guard, self.size))
        return low, start, high


@functools.lru_cache(512)
def _poisoned(before: int, size: int, after: int, dtype: np.dtype[Any]) -> Bytes:
    """What such a result holds before the call: canaries, poison, canaries. Read-only."""
    image = np.full(before + size + after, CANARY, np.uint8)
    poison(image[before : before + size], dtype)
    image.flags.writeable = False
    return image


def _holding(values: Array, place: Place, low: int, start: int, end: int, high: int) -> Bytes:
    """What memory from `low` to `high` is to hold, with `values` between `start` and `end`; gaps hold poison."""
    before, after = start - low, high - end
    if values.nbytes == end - start and max(before, after) <= len(_CANARIES) and row_major_at(place):
        return np.frombuffer(_CANARIES[:before] + values.tobytes() + _CANARIES[:after], np.uint8)
    image = np.full(high - low, CANARY, np.uint8)
    if values.nbytes != end - start:
        poison(image[start - low : end - low], values.dtype)
    array: Array = np.ndarray(values.shape, values.dtype, image.data, place.offset - low, place.strides)
    array[...] = values
    return image


def _unharmed(side: Bytes) -> bool:
    """Whether a side of a buffer holds canaries alone."""
    if side.size <= len(_CANARIES):
        return side.tobytes() == _CANARIES[: side.size]
    return bool((side == CANARY).all())


def shared_result(question: Question) -> int | None:
    """The number of the result that lies where an input or a cotangent does; None where none does."""
    posed = question.posed
    if not posed.case.inplace:
        return None
    number = 0 if posed.mode is Mode.FORWARD else posed.names.index(posed.case.inplace)
    return number if number < len(question.wanted) and question.wanted[number] is not None else None


def _between(
    shape: tuple[int, ...], strides: tuple[int, ...], offset: int, nbytes: int, item: int
) -> NDArray[np.intp] | None:
    """The bytes of a buffer that no element lies on; None where there are none."""
    if math.prod(shape) * item == nbytes:
        return None
    free = np.ones(nbytes, np.uint8)
    for byte in range(item):
        np.ndarray(shape, np.uint8, free.data, offset + byte, strides)[...] = 0
    return np.flatnonzero(free)


def row_major_at(place: Place) -> bool:
    """Whether the elements of an array follow one another, the last index fastest."""
    return _is_row_major(place.shape, place.strides, dtype_of(place.dtype).itemsize)


@functools.lru_cache(4096)
def _is_row_major(shape: tuple[int, ...], strides: tuple[int, ...], item: int) -> bool:
    return all(n <= 1 or s == d * item for n, s, d in zip(shape, strides, row_major(shape), strict=True))


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


def differences(buffers: Iterable[Buffer], now: Sequence[Bytes]) -> Iterable[tuple[Buffer, Bytes]]:
    """The buffers that are not what they were, with what they are; one comparison each where nothing changed."""
    for buffer, data in zip(buffers, now, strict=True):
        if buffer.result is not None or not same_bits(data, buffer.image):
            yield buffer, data
