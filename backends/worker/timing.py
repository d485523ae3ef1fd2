"""A process that times blocks of a backend's calls, one after the other without a request between them.

It takes what it is to call from a pipe, two sets of values for the same buffers, and answers every request for a block
with the nanoseconds that its calls took, by a clock that was taken before the backend was loaded. The caller looks at a
clock of its own, and now and then at what a call of a block answered.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from opproof.backends.load import load_backend
from opproof.backends.loaded import Loaded, resolve_members
from opproof.backends.protocol import Unsupported
from opproof.backends.worker.protocol import BufferRef, dtype_of
from opproof.backends.worker.serve import CallOutcome, WireReply, take_results, to_metadata
from opproof.core.arrays import Array

_now = time.perf_counter_ns
#: Bytes written to evict what caches hold.
EVICTED = 2**26


def main(pipe: Connection, spec: str) -> None:
    """Serve until the pipe ends. Answers are JSON: ns and where they were counted, or an error.

    After those to blocks with a look come the bytes of the results, as `looked.room_for` has their places.
    """
    try:
        source = load_backend(spec)
        backend = resolve_members(source, spec)
        synchronize = getattr(source, "synchronize", None)
        pipe.send_bytes(b'{"ready": true}')
        timed: _Timed | None = None
        while True:
            asked = pipe.recv()
            if isinstance(asked, TimedCalls):
                timed = _Timed(backend, asked, synchronize if callable(synchronize) else None)
                pipe.send_bytes(json.dumps({"in_c": timed.in_c}).encode())
            elif timed is not None:
                told: dict[str, Any] = {"ns": timed.block(asked)}
                looked = {} if asked.look is None else {"answer": to_metadata(timed.answer)}
                pipe.send_bytes(json.dumps(told | looked).encode())
                if looked:
                    pipe.send_bytes(timed.memory.data)
    except EOFError:
        return
    except BaseException as error:  # the backend's, of whatever kind
        pipe.send_bytes(json.dumps({"error": f"{type(error).__name__}: {error}"[:500]}).encode())


class _Timed:
    """The buffers of one call, and what makes it."""

    def __init__(self, backend: Loaded, calls: TimedCalls, synchronize: Callable[[], object] | None) -> None:
        self._buffers: list[tuple[Array, bytes, bytes]] = []
        self._turn = 0
        self._evict: Array | None = None
        self._synchronize = synchronize
        if backend.device_memory is not None:
            raise Unsupported("its tensors are to lie in the memory of a device: such a library is not timed")
        inputs = self._place_arrays(calls.inputs, backend.alignment)
        cotangents = self._place_arrays(calls.cotangents, backend.alignment)
        results = [None if r is None else make_aligned(r[0], r[1], backend.alignment) for r in calls.results]
        self._places, size = plan_room(calls.results)
        self.memory, self.answer = np.zeros(size, np.uint8), WireReply(CallOutcome.NOT_MADE)  # of the last look
        into = backend.vjp_into if calls.gradient else backend.forward_into
        groups = [cotangents, results] if calls.gradient else [results]
        self._loop: Callable[[int, Array | None], int] | None = None
        self._call: Callable[[], object]
        self._written = None if into is None else results
        self._narrow = {x.dtype for x in inputs if x is not None and x.dtype.kind in "iu"}
        if into is not None:
            from opproof.backends.c.timed import loop_of

            made = loop_of(into)
            self._loop = None if made is None else made(calls.op, inputs, calls.params, *groups)
            self._call = lambda: into(calls.op, inputs, dict(calls.params), *groups)
        elif calls.gradient:
            self._call = lambda: backend.vjp(calls.op, inputs, dict(calls.params), cotangents, list(calls.needs))  # type: ignore[misc]
        else:
            self._call = lambda: backend.forward(calls.op, inputs, dict(calls.params))  # type: ignore[misc]

    @property
    def in_c(self) -> bool:
        """Whether the calls are made, and timed, by a loop in C."""
        return self._loop is not None

    def block(self, block: Block) -> int:
        """Nanoseconds of the calls, on other values than those of the block before.

        What a look asks for is done while no clock runs: before the last call, and after it.
        """
        self._turn ^= 1
        self._fill([values[self._turn] for _, *values in self._buffers])
        if block.cold and self._evict is None:
            self._evict = np.zeros(EVICTED, np.uint8)
        look = block.look
        if look is None:
            return self._run(block.calls, block.cold)
        values = [s for s in (*look.inputs, *look.cotangents) if s is not None]
        if look.moved:
            self._fill([shift_storage(s, by) for s, by in zip(values, look.moved, strict=True)])
        spent = self._run(block.calls - 1, block.cold)
        self._fill([s.storage for s in values])
        if self._written is not None:
            poison_results(self._written, look.poison)
        returned: list[Any] = []
        spent += self._run(1, block.cold, returned)
        answer = returned[0] if self._written is None else self._written
        # At once: what a thread writes later is no answer of the call.
        self.answer = copy_answer(answer, self._places, self.memory, self._narrow)
        return spent

    def _fill(self, values: Sequence[bytes]) -> None:
        for (memory, *_), given in zip(self._buffers, values, strict=True):
            memory[:] = np.frombuffer(given, np.uint8)

    def _run(self, calls: int, cold: bool, returned: list[Any] | None = None) -> int:
        """Nanoseconds of the calls. What the last one returns is put into `returned`."""
        if self._loop is not None:
            return self._loop(calls, self._evict if cold else None)
        total = 0
        for _ in range(calls) if cold else ():
            np.add(self._evict, 1, out=self._evict)  # type: ignore[arg-type]
            total += self._measure_calls(1, returned)
        return total if cold else self._measure_calls(calls, returned)

    def _measure_calls(self, calls: int, returned: list[Any] | None) -> int:
        call = self._call if returned is None else lambda: returned.append(self._call())
        start = _now()
        for _ in range(calls):
            call()
        if self._synchronize is not None:
            self._synchronize()
        return _now() - start

    def _place_arrays(self, sets: tuple[Sequence[StoredArray | None], ...], alignment: int) -> list[Array | None]:
        arrays: list[Array | None] = []
        for first, second in zip(*sets, strict=True):
            if first is None or second is None:
                arrays.append(None)
                continue
            memory = make_aligned("uint8", (len(first.storage),), alignment)
            self._buffers.append((memory, first.storage, second.storage))
            memory[:] = np.frombuffer(first.storage, np.uint8)
            arrays.append(np.ndarray(first.shape, dtype_of(first.dtype), memory.data, first.offset, first.strides))
        return arrays


#: Results begin at multiples of so many bytes.
_APART = 64
#: Elements at each end that stay where others are moved.
ENDS = 16


def make_aligned(dtype: str, shape: tuple[int, ...], alignment: int) -> Array:
    """An array that begins where `alignment` asks for."""
    kind = np.dtype(dtype_of(dtype))
    size = int(np.prod(shape)) * kind.itemsize
    memory = np.zeros(size + alignment, np.uint8)
    start = -memory.ctypes.data % alignment
    return np.ndarray(shape, kind, memory[start : start + max(size, 1)].data)


def plan_room(results: Sequence[tuple[str, tuple[int, ...]] | None]) -> tuple[list[BufferRef | None], int]:
    """Places one after the other for results of these dtypes and shapes, rows in order, and the bytes of all."""
    places: list[BufferRef | None] = []
    size = 0
    for result in results:
        if result is None:
            places.append(None)
            continue
        dtype, shape = result
        item = dtype_of(dtype).itemsize
        strides = tuple(math.prod(shape[k + 1 :]) * item for k in range(len(shape)))
        places.append(BufferRef(dtype, shape, strides, size))
        size += -(-math.prod(shape) * item // _APART) * _APART
    return places, size


def poison_results(results: Sequence[Array | None], words: Sequence[bytes | None]) -> None:
    """Fill contiguous results, each with the bytes of an element of its own."""
    for result, word in zip(results, words, strict=True):
        if result is not None and word is not None:
            raw = result.reshape(-1).view(np.uint8).reshape(-1, result.itemsize)
            raw[...] = np.frombuffer(word, np.uint8)


def copy_answer(
    returned: Any, places: Sequence[BufferRef | None], memory: Array, narrow: Collection[np.dtype[Any]]
) -> WireReply:
    """What a call gave, copied to its places in `memory`: the answer as `serve.answer` has it."""
    try:
        return WireReply(CallOutcome.DONE, results=take_results(returned, places, memory, narrow))
    except TypeError as error:  # it is no array
        return WireReply(CallOutcome.FAILED, str(error))


def shift_storage(stored: StoredArray, by: int) -> bytes:
    """The storage, whose elements follow one another, with those between its ends moved round by `by`."""
    if not by:
        return stored.storage
    elements = np.frombuffer(stored.storage, np.uint8).reshape(-1, dtype_of(stored.dtype).itemsize).copy()
    elements[ENDS:-ENDS] = np.roll(elements[ENDS:-ENDS], by, axis=0)
    return elements.tobytes()


@dataclass(frozen=True)
class StoredArray:
    """An array as it lies: bytes of its storage, and where the elements are, in bytes."""

    storage: bytes
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int


@dataclass(frozen=True)
class TimedCalls:
    """What to call: inputs and cotangents in two sets of values, and the results to make room for."""

    op: str
    params: dict[str, Any]
    gradient: bool
    inputs: tuple[Sequence[StoredArray | None], Sequence[StoredArray | None]]
    cotangents: tuple[Sequence[StoredArray | None], Sequence[StoredArray | None]]
    results: Sequence[tuple[str, tuple[int, ...]] | None]
    needs: Sequence[bool]


@dataclass(frozen=True)
class SpotCheck:
    """Values for the last call of a block alone, whose answer is to come back, and what its results hold until then.

    Where anything is `moved`, the calls before have the same values in other places: by so many elements of each input
    and cotangent, all but those at the ends. A few elements, or their sum, do not tell the one from the other.
    """

    inputs: Sequence[StoredArray | None]
    cotangents: Sequence[StoredArray | None]
    poison: Sequence[bytes | None]  # an element of every result
    moved: Sequence[int] = ()


@dataclass(frozen=True)
class Block:
    """So many calls in a row, caches as the calls leave them or evicted before each."""

    calls: int
    cold: bool
    look: SpotCheck | None = None  # at the last one
