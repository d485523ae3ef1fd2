"""Mutants that misread memory: strides or storage offset of an input or a cotangent ignored."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from opproof.cases._layouts import layouts_of, row_major
from opproof.harness.mutants import Array, Arrays, Call, Mutant, Profile

Change = Callable[[Array], Array]


def mutants(profile: Profile) -> Iterator[Mutant]:
    """Mutants of one operator in one mode."""
    for i, name in enumerate(profile.inputs):
        yield Mutant(f"strides of {name} ignored", _inputs(packed, i))
        yield Mutant(f"storage offset of {name} ignored", _inputs(from_start, i))
    laid = {layout for case in profile.cases for layout in layouts_of(case).values()}
    for layout, kind in _KINDS.items():
        if layout in laid or layout != "permuted":
            yield Mutant(f"{layout} inputs read as contiguous", _inputs(lambda x, k=kind: packed(x) if k(x) else x))
    if profile.mode == "gradient" and profile.moving and profile.ranked:
        yield Mutant("strides of the cotangent ignored", _cotangents(packed))
        yield Mutant("storage offset of the cotangent ignored", _cotangents(from_start))


def packed(x: Array) -> Array:
    """What a reader sees that takes `x` for contiguous: its storage in order, from its start again at the end."""
    if x.flags.c_contiguous or not x.size:
        return x
    storage, start = _storage(x)
    places = (start + np.arange(x.size)) % storage.size
    return storage[places].reshape(x.shape)


def from_start(x: Array) -> Array:
    """What a reader sees that begins at the beginning of the storage of `x`."""
    storage, start = _storage(x)
    if not start or not x.size:
        return x
    steps = [s // x.itemsize for s in x.strides]
    places = sum((np.arange(n).reshape(-1, *(1,) * (x.ndim - 1 - a)) * s for a, (n, s) in enumerate(zip(x.shape, steps, strict=True))), np.zeros((), int))
    return storage[places].reshape(x.shape)


def _storage(x: Array) -> tuple[Array, int]:
    """The whole storage of `x` in order, gaps zero, and where its first element stands there."""
    base = x.base
    assert base is not None, "inputs of mutants lie in buffers of their own"
    whole = np.asarray(base).reshape(-1).view(x.dtype)
    start = (x.__array_interface__["data"][0] - whole.__array_interface__["data"][0]) // x.itemsize
    values = whole.copy()
    if x.dtype.kind != "i":
        values[np.isnan(values.astype(np.float64))] = 0  # the poison of gaps; a reader meets some number there
    return values, start


def _transposed(x: Array) -> bool:
    return x.ndim > 1 and x.strides[-2] == x.itemsize and x.strides[-1] != x.itemsize


def _permuted(x: Array) -> bool:
    return x.ndim > 2 and x.strides[0] == x.itemsize and min(x.shape) > 1


def _sliced(x: Array) -> bool:
    return x.ndim > 0 and x.strides[-1] == 2 * x.itemsize


def _gapped(x: Array) -> bool:
    return x.ndim > 1 and x.strides[-1] == x.itemsize and x.strides[-2] == (x.shape[-1] + 3) * x.itemsize


def _broadcast(x: Array) -> bool:
    return x.ndim > 0 and x.strides[0] == 0


_KINDS: dict[str, Callable[[Array], bool]] = {
    "transposed": _transposed,
    "permuted": _permuted,
    "sliced": _sliced,
    "gapped": _gapped,
    "broadcast": _broadcast,
}


def row_strides(x: Array) -> tuple[int, ...]:
    """Strides, in bytes, of a contiguous array like `x`."""
    return tuple(s * x.itemsize for s in row_major(x.shape))


def _inputs(change: Change, only: int | None = None) -> Callable[[Call], Arrays]:
    def results(call: Call) -> Arrays:
        return call.again(inputs=[x if x is None or only not in (None, i) else change(x) for i, x in enumerate(call.inputs)])

    return results


def _cotangents(change: Change) -> Callable[[Call], Arrays]:
    def results(call: Call) -> Arrays:
        assert call.cotangents is not None
        gs: Sequence[Array] = call.cotangents
        return call.again(cotangents=[change(g) for g in gs])

    return results
