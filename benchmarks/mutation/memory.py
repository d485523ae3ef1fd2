"""Mutants that misread memory: strides or storage offset of an input or a cotangent ignored."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from mutation.mutant import Arrays, Mutant, Profile, ReferenceCall
from opproof.core.arrays import Array
from opproof.harness.run.memory import find_unwritten

Change = Callable[[Array, NDArray[np.uint8]], Array]


def memory_mutants(profile: Profile) -> Iterator[Mutant]:
    """Mutants of one operator in one mode."""
    for i, name in enumerate(profile.inputs):
        if i not in profile.read or (profile.op.variadic and i > 1):
            continue
        if any(prod(case.shapes.get(name, ())) > 1 for case in profile.cases):
            yield Mutant(f"strides of {name} ignored", _change_inputs(read_packed, i))
        yield Mutant(f"storage offset of {name} ignored", _change_inputs(from_start, i))
    rank = max((len(s) for c in profile.cases for n, s in c.shapes.items() if _is_read(n, profile)), default=0)
    for layout, (kind, least) in _KINDS.items():
        if rank >= least:
            yield Mutant(f"{layout} inputs read as contiguous", _change_inputs(_read_packed_where(kind)))
    if profile.mode == "gradient" and profile.moving and profile.cotangent_rank:
        yield Mutant("strides of the cotangent ignored", _change_cotangents(read_packed))
        yield Mutant("storage offset of the cotangent ignored", _change_cotangents(from_start))


def read_packed(x: Array, storage: NDArray[np.uint8]) -> Array:
    """What a reader sees that takes `x` for contiguous: its storage in order, and zeros past its end."""
    if x.flags.c_contiguous or not x.size:
        return x
    values, start = _read_storage(x, storage)
    seen = np.zeros(x.size, x.dtype)
    found = values[start : start + x.size]
    seen[: found.size] = found
    return seen.reshape(x.shape)


def _read_packed_where(kind: Callable[[Array], bool]) -> Change:
    return lambda x, storage: read_packed(x, storage) if kind(x) else x


def from_start(x: Array, storage: NDArray[np.uint8]) -> Array:
    """What a reader sees that begins at the beginning of the storage of `x`."""
    values, start = _read_storage(x, storage)
    if not start or not x.size:
        return x
    steps = [s // x.itemsize for s in x.strides]
    places = np.tensordot(steps, np.indices(x.shape), axes=1) if x.ndim else np.zeros((), int)
    return np.asarray(values[places])


def _read_storage(x: Array, storage: NDArray[np.uint8]) -> tuple[Array, int]:
    """The whole storage of `x` in order, poisoned gaps zero, and where its first element stands there."""
    whole = storage.view(x.dtype)
    start = (x.__array_interface__["data"][0] - whole.__array_interface__["data"][0]) // x.itemsize
    return np.where(find_unwritten(whole), np.zeros(1, whole.dtype), whole), start


def _is_cropped(x: Array) -> bool:
    row = x.shape[-1] * x.itemsize if x.ndim > 2 else 0
    return x.ndim > 2 and x.strides[-3:] == ((x.shape[-2] + 2) * row, row, x.itemsize)


#: How a tensor lies in memory, and the axes that it needs to lie so.
_KINDS: dict[str, tuple[Callable[[Array], bool], int]] = {
    "transposed": (lambda x: x.ndim > 1 and x.strides[-2] == x.itemsize != x.strides[-1], 2),
    "permuted": (lambda x: x.ndim > 2 and x.strides[0] == x.itemsize and x.shape[0] > 1, 3),
    "sliced": (lambda x: x.ndim > 0 and x.strides[-1] == 2 * x.itemsize, 1),
    "gapped": (lambda x: x.ndim > 1 and x.strides[-2:] == ((x.shape[-1] + 3) * x.itemsize, x.itemsize), 2),
    "cropped": (_is_cropped, 3),
    "broadcast": (lambda x: x.ndim > 0 and x.strides[0] == 0, 2),
}


def _is_read(name: str, profile: Profile) -> bool:
    return any(profile.inputs[i] == name for i in profile.read)


def _change_inputs(change: Change, only: int | None = None) -> Callable[[ReferenceCall], Arrays]:
    def read(x: Array | None, i: int, call: ReferenceCall) -> Array | None:
        if x is None or only not in (None, i):
            return x
        return change(x, call.stored[id(x)])

    return lambda call: call.again(inputs=[read(x, i, call) for i, x in enumerate(call.inputs)])


def _change_cotangents(change: Change) -> Callable[[ReferenceCall], Arrays]:
    def results(call: ReferenceCall) -> Arrays:
        gs: Sequence[Array | None] = call.cotangents if call.cotangents is not None else ()
        return call.again(cotangents=[None if g is None else change(g, call.stored[id(g)]) for g in gs])

    return results
