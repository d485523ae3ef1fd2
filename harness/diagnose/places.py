"""Sets of places that loops forget: tails, the first and last slices, every second one, edges, all but a tile."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from opproof.core.arrays import Array
from opproof.harness.diagnose.region import Region
from opproof.harness.diagnose.wrong import Wrong

#: Labels of regions that are places, not values.
PLACES = ("tail", "last", "first", "beyond first", "beyond", "edges", "every", "between")
#: Of slices that lie apart from each other, or begin and end anywhere, fewer tell nothing.
_FEWEST = 6
#: Slices of which one is told to be the first or the last: of three it is two times out of three, whatever is wrong.
_SEVERAL = 4


def places(w: Wrong) -> Iterator[Region]:
    """Every such set for a tensor of this shape, the likeliest first."""
    shape = w.got.shape
    yield from _tails(shape)
    for axis, n in enumerate(shape):
        index = along(shape, axis)
        yield from _of_few(axis, n, index)
        yield Region("last", f"the elements of the last slice along axis {axis}", index == n - 1)
        yield Region("first", f"the elements of the first slice along axis {axis}", index == 0)
        yield Region("beyond first", f"the elements with an index > 0 along axis {axis}", index > 0)
        for width in (1024, 512, 256, 128, 64, 32, 16, 8, 4):
            said = f"the elements from {width} on along axis {axis}"
            yield Region("beyond", said, index >= width)
    yield from _every(shape)
    yield from _edges(shape)
    yield from _between(w)


def _of_few(axis: int, n: int, index: Array) -> Iterator[Region]:
    """Slices by their numbers, where there are so few that the first is as likely to be meant as any other."""
    if 1 < n < _SEVERAL:
        yield Region("last", f"the elements of slice {n - 1} of {n} along axis {axis}", index == n - 1)
        yield Region("first", f"the elements of slice 0 of {n} along axis {axis}", index == 0)
    if 2 < n < _SEVERAL:
        yield Region("beyond first", f"the elements of slices 1 to {n - 1} of {n} along axis {axis}", index > 0)


def _tails(shape: tuple[int, ...]) -> Iterator[Region]:
    """Past the last multiple of a vector width; a single slice is said to be the last too, for it may be either."""
    size = int(np.prod(shape))
    flat = np.arange(size).reshape(shape)
    for width in (4, 8, 16, 32, 64):
        for axis in range(len(shape) - 1, -1, -1):
            end = shape[axis] - shape[axis] % width
            if not 0 < end < shape[axis]:
                continue
            beyond, multiple = along(shape, axis) >= end, f"the last multiple of {width}"
            said = f"the elements past {end} along axis {axis}"
            if shape[axis] - end == 1:
                yield Region("tail", f"{said} ({multiple}; the last slice)", beyond, double=True)
            yield Region("tail", f"{said} ({multiple})", beyond)
        end = size - size % width
        if end and len(shape) > 1:
            yield Region("tail", f"the elements past {end} in memory (the last multiple of {width})", flat >= end)


def _every(shape: tuple[int, ...]) -> Iterator[Region]:
    """Every second slice, every fourth and so on: a lane that does nothing, a step that is twice as long."""
    for axis, n in enumerate(shape):
        index = along(shape, axis)
        if n >= _FEWEST:
            yield Region("every", f"the elements with an odd index along axis {axis}", index % 2 == 1)
            yield Region("every", f"the elements with an even index along axis {axis}", index % 2 == 0)
        for width in (4, 8, 16, 32):
            if n > 2 * width:
                multiple = f"a multiple of {width}"
                yield Region("every", f"the elements with {multiple} for index along axis {axis}", index % width == 0)
                said = f"the elements with one less than {multiple} for index along axis {axis}"
                yield Region("every", said, index % width == width - 1)


def _edges(shape: tuple[int, ...]) -> Iterator[Region]:
    """The first and the last slice along an axis, or along the last two or three."""
    rank = len(shape)
    sets = [(a,) for a in range(rank)] + [tuple(range(rank - k, rank)) for k in (2, 3) if k <= rank]
    for axes in sets:
        if len(axes) > 1 or shape[axes[0]] > _FEWEST:
            edge = np.zeros(shape, dtype=bool)
            for a in axes:
                index = along(shape, a)
                edge |= (index == 0) | (index == shape[a] - 1)
            named = f"ax{'es' if len(axes) > 1 else 'is'} {', '.join(map(str, axes))}"
            yield Region("edges", f"the elements of the first and last slices along {named}", edge)


def _between(w: Wrong) -> Iterator[Region]:
    """From one slice to another, wherever they lie."""
    for axis, n in enumerate(w.got.shape):
        index = along(w.got.shape, axis)
        wrong = index[w.failing]
        first, last = int(wrong.min()), int(wrong.max())
        if n < 2 * _FEWEST or first < 1 or last > n - 2 or _repeats(w, axis):
            continue
        said = (
            f"the elements from {first} to {last} along axis {axis}"
            if first < last
            else f"the elements of slice {first} along axis {axis}"
        )
        cost = 2 * float(np.log2(n))
        yield Region("between", said, (index >= first) & (index <= last), cost)


def _repeats(w: Wrong, axis: int) -> bool:
    """Whether rows of an input along an axis are each other's copies: what is wrong of one value is then a slice."""
    for v in w.inputs:
        if v is None or v.shape != w.got.shape:
            continue
        rows = np.moveaxis(v, axis, -1).reshape(-1, v.shape[axis])
        if 1 < len(rows) >= 2 * len(np.unique(rows, axis=0)):
            return True
    return False


def along(shape: tuple[int, ...], axis: int) -> Array:
    """The index along an axis of every element."""
    index = np.arange(shape[axis]).reshape([-1 if a == axis else 1 for a in range(len(shape))])
    return np.broadcast_to(index, shape)
