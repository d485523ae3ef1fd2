"""Where the tensors of a call lie in an arena, and how they are laid out there."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.backends.worker.memory import PAGE
from opproof.backends.worker.protocol import BufferRef, WireRequest, name_of
from opproof.cases._layouts import Storage, cotangent_layout, layouts_of, storage_of
from opproof.core.arrays import Array, allocate_tensor
from opproof.core.dtypes import DTYPES
from opproof.core.errors import CaseError
from opproof.core.verdicts import Mode
from opproof.harness.reference.data import to_dtype
from opproof.harness.run.memory.buffer import Buffer, Bytes, find_bytes_as_written, make_image
from opproof.harness.run.request import Request, Wanted

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
        low, start, high = self._room(nbytes)
        end = start + nbytes
        place = BufferRef(name_of(dtype), shape, strides, start + offset)
        own = None if values is None else find_bytes_as_written(values, place, start, end)
        given = None if values is None or own is not None else make_image(values, place, low, start, end, high)
        self.buffers.append(Buffer(name, low, start, end, high, dtype, given, result, between, own))
        return place

    def _room(self, nbytes: int) -> tuple[int, int, int]:
        """Where so many bytes begin, between which others that are looked at too."""
        room = -(-max(nbytes, 1) // self._alignment) * self._alignment
        inner = -(-room // PAGE) * PAGE
        start = self.size + (inner - room if self._question.at_end else 0)
        low, high = self.size, self.size + inner
        if self._question.readable_guards:
            low, high = low - self._guard // 2, high + self._guard // 2
        self.size += inner + self._guard
        self.guards.append((self.size - self._guard, self.size))
        return low, start, high


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
