"""A process that times blocks of a backend's calls, one after the other without a request between them.

It takes what it is to call from a pipe, two sets of values for the same buffers, and answers every request for a block
with the nanoseconds that its calls took by a clock that was taken before the backend was loaded. Who asked looks at a
clock of its own.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from opproof.backends.host.request import dtype_of
from opproof.backends.load import load_backend
from opproof.backends.loaded import Loaded, settle
from opproof.vocabulary.arrays import Array

_now = time.perf_counter_ns
#: Bytes written to evict what caches hold.
EVICTED = 2**26


@dataclass(frozen=True)
class Stored:
    """An array as it lies: bytes of its storage, and where the elements are, in bytes."""

    storage: bytes
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int


@dataclass(frozen=True)
class Calls:
    """What to call: inputs and cotangents in two sets of values, and the results to make room for."""

    op: str
    params: dict[str, Any]
    gradient: bool
    inputs: tuple[Sequence[Stored | None], Sequence[Stored | None]]
    cotangents: tuple[Sequence[Stored | None], Sequence[Stored | None]]
    results: Sequence[tuple[str, tuple[int, ...]] | None]
    needs: Sequence[bool]


@dataclass(frozen=True)
class Block:
    """So many calls in a row, caches as the calls leave them or evicted before each."""

    calls: int
    cold: bool


def main(pipe: Connection, spec: str) -> None:
    """Serve until the pipe ends. Answers are JSON: ns and where they were counted, or an error."""
    try:
        source = load_backend(spec)
        backend = settle(source, spec)
        synchronize = getattr(source, "synchronize", None)
        pipe.send_bytes(b'{"ready": true}')
        timed: _Timed | None = None
        while True:
            asked = pipe.recv()
            if isinstance(asked, Calls):
                timed = _Timed(backend, asked, synchronize if callable(synchronize) else None)
                pipe.send_bytes(json.dumps({"in_c": timed.in_c}).encode())
            elif timed is not None:
                pipe.send_bytes(json.dumps({"ns": timed.block(asked)}).encode())
    except EOFError:
        return
    except BaseException as error:  # the backend's, of whatever kind
        pipe.send_bytes(json.dumps({"error": f"{type(error).__name__}: {error}"[:500]}).encode())


class _Timed:
    """The buffers of one call, and what makes it."""

    def __init__(self, backend: Loaded, calls: Calls, synchronize: Callable[[], object] | None) -> None:
        self._buffers: list[tuple[Array, bytes, bytes]] = []
        self._turn = 0
        self._evict: Array | None = None
        self._synchronize = synchronize
        inputs = self._placed(calls.inputs, backend.alignment)
        cotangents = self._placed(calls.cotangents, backend.alignment)
        results = [None if r is None else _room(r[0], r[1], backend.alignment) for r in calls.results]
        into = backend.vjp_into if calls.gradient else backend.forward_into
        groups = [cotangents, results] if calls.gradient else [results]
        self._loop: Callable[[int, Array | None], int] | None = None
        self._call: Callable[[], object]
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
        """Nanoseconds of the calls, on other values than those of the block before."""
        self._turn ^= 1
        for memory, *values in self._buffers:
            memory[:] = np.frombuffer(values[self._turn], np.uint8)
        if block.cold and self._evict is None:
            self._evict = np.zeros(EVICTED, np.uint8)
        if self._loop is not None:
            return self._loop(block.calls, self._evict if block.cold else None)
        total = 0
        for _ in range(block.calls) if block.cold else ():
            np.add(self._evict, 1, out=self._evict)  # type: ignore[arg-type]
            total += self._spent(1)
        return total if block.cold else self._spent(block.calls)

    def _spent(self, calls: int) -> int:
        call = self._call
        start = _now()
        for _ in range(calls):
            call()
        if self._synchronize is not None:
            self._synchronize()
        return _now() - start

    def _placed(self, sets: tuple[Sequence[Stored | None], ...], alignment: int) -> list[Array | None]:
        arrays: list[Array | None] = []
        for first, second in zip(*sets, strict=True):
            if first is None or second is None:
                arrays.append(None)
                continue
            memory = _room("uint8", (len(first.storage),), alignment)
            self._buffers.append((memory, first.storage, second.storage))
            memory[:] = np.frombuffer(first.storage, np.uint8)
            arrays.append(np.ndarray(first.shape, dtype_of(first.dtype), memory.data, first.offset, first.strides))
        return arrays


def _room(dtype: str, shape: tuple[int, ...], alignment: int) -> Array:
    """An array that begins where `alignment` asks for."""
    kind = np.dtype(dtype_of(dtype))
    size = int(np.prod(shape)) * kind.itemsize
    memory = np.zeros(size + alignment, np.uint8)
    start = -memory.ctypes.data % alignment
    return np.ndarray(shape, kind, memory[start : start + max(size, 1)].data)
