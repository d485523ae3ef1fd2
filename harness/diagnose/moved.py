"""Right numbers in the wrong place: transposed, shifted, or read as if they lay otherwise in memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np

from opproof.cases._layouts import Storage, layouts_of, row_major, storage_of
from opproof.core.arrays import Array
from opproof.harness.diagnose.wrong import Wrong


def transposed(w: Wrong) -> str | None:
    for i, j in combinations(range(w.expected.ndim), 2):
        swapped = np.swapaxes(w.expected, i, j)
        if swapped.shape == w.expected.shape and w.fits(swapped):
            return f"{w.what} is transposed: its axes {i} and {j} are swapped"
        if w.fits(swapped.reshape(w.expected.shape)):
            return f"{w.what} is transposed: it is stored with its axes {i} and {j} swapped"
    if w.fits(w.expected.reshape(-1, order="F").reshape(w.expected.shape)):
        return f"{w.what} is stored with its axes in reverse order (column-major)"
    return None


def off_by_one(w: Wrong) -> str | None:
    """Every element is its neighbour's; the slice that has no neighbour may be anything."""
    for axis, n in enumerate(w.expected.shape):
        for step in (1, -1):
            inside = np.ones(w.expected.shape, dtype=bool)
            np.moveaxis(inside, axis, 0)[0 if step == 1 else -1] = False
            if n >= 3 and w.fits(np.roll(w.expected, step, axis), where=inside):
                return f"{w.what} is off by one along axis {axis}: element i holds the value of i {'-+'[step < 0]} 1"
    flat = w.expected.reshape(-1)
    for step in (1, -1) if flat.size >= 3 else ():
        at: Array = np.ones(flat.size, dtype=bool)
        at[0 if step == 1 else -1] = False
        candidate = np.roll(flat, step).reshape(w.expected.shape)
        if w.fits(candidate, where=at.reshape(w.expected.shape)):
            late = "late" if step > 0 else "early"
            return f"{w.what} is off by one in memory: every element is stored one place {late}"
    return None


def reversed_(w: Wrong) -> str | None:
    for axis in range(w.expected.ndim):
        if w.fits(np.flip(w.expected, axis)):
            return f"{w.what} is reversed along axis {axis}"
    return None


def first_everywhere(w: Wrong) -> str | None:
    """The first slice in place of all of them: an index that stands still."""
    for axis, n in enumerate(w.expected.shape):
        if n > 1 and w.fits(np.broadcast_to(w.expected.take([0], axis), w.expected.shape)):
            return f"every slice of {w.what} along axis {axis} is the first one"
    return None


def stride_ignored(w: Wrong) -> str | None:
    def from_start(s: Storage, shape: tuple[int, ...]) -> Storage:
        return Storage(s.size, 0, row_major(shape))

    for change in (contiguous, from_start):
        if (name := _misread(w, change)) is not None:
            return f"the strides of {name} are ignored: it is read as if it were contiguous"
    return None


def offset_ignored(w: Wrong) -> str | None:
    name = _misread(w, from_the_beginning)
    return None if name is None else f"the storage offset of {name} is ignored: it is read from the storage's beginning"


def _misread(w: Wrong, change: Callable[[Storage, tuple[int, ...]], Storage]) -> str | None:
    """Names of the inputs that, read through a changed storage, explain the error."""
    for group, inputs in misreadings(w, change):
        if w.explained(inputs=inputs):
            return " and ".join(group)
    return None


def contiguous(s: Storage, shape: tuple[int, ...]) -> Storage:
    """The storage of a tensor whose strides are not heeded."""
    return Storage(s.size, s.offset, row_major(shape))


def from_the_beginning(s: Storage, _: tuple[int, ...]) -> Storage:
    """The storage of a tensor whose offset is not heeded."""
    return Storage(s.size, 0, s.strides)


def misreadings(
    w: Wrong, change: Callable[[Storage, tuple[int, ...]], Storage]
) -> Iterator[tuple[tuple[str, ...], list[Array | None]]]:
    """Inputs of which some are read through a changed storage, and their names: all of them, the floats, each alone."""
    layouts, misread = layouts_of(w.case), {}
    for name, v in zip(w.names, w.inputs, strict=True):
        if v is None or name is None:
            continue
        storage = storage_of(v.shape, layouts[name])
        wrong = change(storage, v.shape)
        last = wrong.offset + sum((n - 1) * s for n, s in zip(v.shape, wrong.strides, strict=True))
        if wrong != storage and last < storage.size and v.size:
            misread[name] = _read(v, storage, wrong)
    floats = tuple(
        str(n) for n, v in zip(w.names, w.inputs, strict=True) if n in misread and v is not None and v.dtype.kind == "f"
    )
    for group in dict.fromkeys([tuple(misread), floats, *((n,) for n in misread)]):
        if group:
            yield group, [misread[str(n)] if n in group else v for n, v in zip(w.names, w.inputs, strict=True)]


def _read(v: Array, written: Storage, read: Storage) -> Array:
    """`v` laid out as `written` in memory full of NaN, then read as `read`."""
    memory = np.full(max(written.size, math.prod(v.shape)), np.nan if v.dtype.kind == "f" else 0, dtype=v.dtype)
    item = v.dtype.itemsize
    np.ndarray(v.shape, v.dtype, memory, written.offset * item, tuple(s * item for s in written.strides))[...] = v
    return np.ndarray(v.shape, v.dtype, memory, read.offset * item, tuple(s * item for s in read.strides)).copy()
