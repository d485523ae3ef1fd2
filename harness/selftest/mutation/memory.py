"""Mutants that misread memory: strides or storage offset of an input or a cotangent ignored."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array
from opproof.harness.run.memory.buffer import unwritten
from opproof.harness.selftest.mutation.mutant import Arrays, Call, Mutant, Profile

Change = Callable[[Array, NDArray[np.uint8]], Array]


def memory_mutants(profile: Profile) -> Iterator[Mutant]:
    """Mutants of one operator in one mode."""
    for i, name in enumerate(profile.inputs):
        if i not in profile.read or (profile.op.variadic and i > 1):
            continue
        if any(prod(case.shapes.get(name, ())) > 1 for case in profile.cases):
            yield Mutant(f"strides of {name} ignored", _inputs(packed, i))
        yield Mutant(f"storage offset of {name} ignored", _inputs(from_start, i))
    rank = max((len(s) for c in profile.cases for n, s in c.shapes.items() if _is_read(n, profile)), default=0)
    for layout, (kind, least) in _KINDS.items():
        if rank >= least:
            yield Mutant(f"{layout} inputs read as contiguous", _inputs(_packed_where(kind)))
    if profile.mode == "gradient" and profile.moving and profile.cotangent_rank:
        yield Mutant("strides of the cotangent ignored", _cotangents(packed))
        yield Mutant("storage offset of the cotangent ignored", _cotangents(from_start))


def packed(x: Array, storage: NDArray[np.uint8]) -> Array:
    """What a reader sees that takes `x` for contiguous: its storage in order, and zeros past its end."""
    if x.flags.c_contiguous or not x.size:
        return x
    values, start = _values(x, storage)
    seen = np.zeros(x.size, x.dtype)
    found = values[start : start + x.size]
    seen[: found.size] = found
    return seen.reshape(x.shape)


def _packed_where(kind: Callable[[Array], bool]) -> Change:
    return lambda x, storage: packed(x, storage) if kind(x) else x


def from_start(x: Array, storage: NDArray[np.uint8]) -> Array:
    """What a reader sees that begins at the beginning of the storage of `x`."""
    values, start = _values(x, storage)
    if not start or not x.size:
        return x
    steps = [s // x.itemsize for s in x.strides]
    places = np.tensordot(steps, np.indices(x.shape), axes=1) if x.ndim else np.zeros((), int)
    return np.asarray(values[places])


def _values(x: Array, storage: NDArray[np.uint8]) -> tuple[Array, int]:
    """The whole storage of `x` in order, poisoned gaps zero, and where its first element stands there."""
    whole = storage.view(x.dtype)
    start = (x.__array_interface__["data"][0] - whole.__array_interface__["data"][0]) // x.itemsize
    return np.where(unwritten(whole), np.zeros(1, whole.dtype), whole), start


def _transposed(x: Array) -> bool:
    return x.ndim > 1 and x.strides[-2] == x.itemsize and x.strides[-1] != x.itemsize


def _permuted(x: Array) -> bool:
    return x.ndim > 2 and x.strides[0] == x.itemsize and x.shape[0] > 1


def _sliced(x: Array) -> bool:
    return x.ndim > 0 and x.strides[-1] == 2 * x.itemsize


def _gapped(x: Array) -> bool:
    return x.ndim > 1 and x.strides[-1] == x.itemsize and x.strides[-2] == (x.shape[-1] + 3) * x.itemsize


def _cropped(x: Array) -> bool:
    row = x.shape[-1] * x.itemsize if x.ndim > 2 else 0
    return x.ndim > 2 and x.strides[-3:] == ((x.shape[-2] + 2) * row, row, x.itemsize)


def _broadcast(x: Array) -> bool:
    return x.ndim > 0 and x.strides[0] == 0


#: How a tensor lies in memory, and the axes that it needs to lie so.
_KINDS: dict[str, tuple[Callable[[Array], bool], int]] = {
    "transposed": (_transposed, 2),
    "permuted": (_permuted, 3),
    "sliced": (_sliced, 1),
    "gapped": (_gapped, 2),
    "cropped": (_cropped, 3),
    "broadcast": (_broadcast, 2),
}


def _is_read(name: str, profile: Profile) -> bool:
    return any(profile.inputs[i] == name for i in profile.read)


def _inputs(change: Change, only: int | None = None) -> Callable[[Call], Arrays]:
    def read(x: Array | None, i: int, call: Call) -> Array | None:
        if x is None or only not in (None, i):
            return x
        return change(x, call.stored[id(x)])

    return lambda call: call.again(inputs=[read(x, i, call) for i, x in enumerate(call.inputs)])


def _cotangents(change: Change) -> Callable[[Call], Arrays]:
    def results(call: Call) -> Arrays:
        gs: Sequence[Array | None] = call.cotangents if call.cotangents is not None else ()
        return call.again(cotangents=[None if g is None else change(g, call.stored[id(g)]) for g in gs])

    return results
