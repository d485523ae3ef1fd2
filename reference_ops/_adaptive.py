"""Pooling over parts that divide the last axes as evenly as they can.

Part i of o of an axis of n cells runs from floor(i n / o) to ceil((i + 1) n / o), so parts overlap where o does not
divide n.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._windows import Sizes, asked_of_something, per_axis


@dataclass(frozen=True)
class Block:
    """Parts of the same shape: where they lie in y, where their cells lie in x, and how many cells a part has."""

    parts: Any  # an index of y
    cells: Any  # an index of x: the axes of parts, then those inside a part
    count: int


def _alike(n: int, out: int) -> Iterator[tuple[Array, Array]]:
    """Parts of the same number of cells: which they are, (p,), and their cells, (p, cells)."""
    which = np.arange(out)
    first, end = which * n // out, -((which + 1) * n // -out)
    for cells in np.unique(end - first):
        parts = which[end - first == cells]
        yield parts, first[parts, None] + np.arange(cells)


def blocks(x: Array, output_size: Sizes, rank: int) -> Iterator[Block]:
    """The parts of the last `rank` axes. Raises ValueError where one of these has no cells."""
    size = x.shape[x.ndim - rank :]
    if 0 in size:
        raise ValueError(f"pooling asks for elements on the last axes, x is of {x.shape}")
    axes = [list(_alike(n, o)) for n, o in zip(size, per_axis(output_size, rank), strict=True)]
    for chosen in itertools.product(*axes):
        parts, cells, count = [], [], 1
        for axis, (which, inside) in enumerate(chosen):
            shape = [1] * (2 * rank)
            shape[axis], shape[rank + axis] = inside.shape
            parts.append(np.reshape(which, (-1, *(1,) * (rank - 1 - axis))))
            cells.append(np.reshape(inside, shape))
            count *= inside.shape[1]
        yield Block((..., *parts), (..., *cells), count)


def _outputs(x: Array, output_size: Sizes, rank: int) -> tuple[int, ...]:
    return (*x.shape[: x.ndim - rank], *per_axis(output_size, rank))


def average(x: Array, output_size: Sizes, rank: int) -> Array:
    """The mean of every part."""
    y = np.zeros(_outputs(x, output_size, rank), dtype=x.dtype, like=x)
    for block in blocks(x, output_size, rank):
        y[block.parts] = np.mean(x[block.cells], axis=tuple(range(-rank, 0)))
    return y


def average_vjp(g: Array, x: Array, output_size: Sizes, rank: int) -> Array:
    """G over a part's number of cells, to each of them."""
    dx = np.zeros(x.shape, dtype=g.dtype, like=g)
    for block in blocks(x, output_size, rank):
        share = g[block.parts] / block.count
        np.add.at(dx, block.cells, np.reshape(share, (*share.shape, *(1,) * rank)))
    return dx


def _flat(block: Block, x: Array, rank: int) -> tuple[Array, Array]:
    """The elements of every part on one last axis, and their flat positions in the plane of x."""
    cells = x[block.cells]
    shape = (*cells.shape[: cells.ndim - rank], block.count)
    size = x.shape[x.ndim - rank :]
    place = np.ravel_multi_index(np.broadcast_arrays(*block.cells[1:]), size)
    return np.reshape(cells, shape), np.reshape(place, (*place.shape[:rank], block.count))


def largest(x: Array, output_size: Sizes, rank: int, *, last_nan: bool = False) -> tuple[Array, Array]:
    """The largest element of every part, and its flat position in the plane of x: the first of equal ones and NaN."""
    asked_of_something(x, "pooling")
    shape = _outputs(x, output_size, rank)
    y, indices = np.zeros(shape, dtype=x.dtype, like=x), np.zeros(shape, dtype=np.int64)
    for block in blocks(x, output_size, rank):
        cells, place = _flat(block, x, rank)
        nan = np.isnan(cells)
        best = nan | (cells == np.max(cells, axis=-1, keepdims=True))
        first = np.argmax(best, axis=-1)
        if last_nan:
            first = np.where(np.any(nan, axis=-1), block.count - 1 - np.argmax(nan[..., ::-1], axis=-1), first)
        chosen = first[..., None]
        y[block.parts] = np.take_along_axis(cells, chosen, axis=-1)[..., 0]
        indices[block.parts] = np.take_along_axis(np.broadcast_to(place, cells.shape), chosen, axis=-1)[..., 0]
    return y, indices


def largest_with_nan(x: Array, output_size: Sizes, rank: int) -> Iterator[tuple[Array, Array]]:
    """What else is made of NaN: the last of several is meant; or they are left out, and -inf or NaN is left of all."""
    yield largest(x, output_size, rank, last_nan=True)
    nan = np.isnan(x)
    others, places = largest(np.where(nan, -np.inf, x), output_size, rank)
    yield others, places
    all_nan, _ = largest(np.where(nan, 0.0, 1.0), output_size, rank)
    yield np.where(all_nan == 0, np.nan, others), places


def largest_vjp(g: Array, x: Array, output_size: Sizes, rank: int) -> Array:
    """G sent to the element that won each part."""
    lead = x.shape[: x.ndim - rank]
    _, indices = largest(x, output_size, rank)
    dx = np.zeros((int(np.prod(lead)), int(np.prod(x.shape[x.ndim - rank :]))), dtype=g.dtype, like=g)
    rows = np.arange(dx.shape[0])[:, None]
    flat = np.reshape(indices, (dx.shape[0], -1)) if dx.shape[0] else np.zeros((0, 0), np.int64)
    np.add.at(dx, (rows, flat), np.reshape(g, flat.shape))
    return np.reshape(dx, x.shape)


def largest_kinks(x: Array, output_size: Sizes, rank: int) -> Array:
    """Distance to the nearest tie: a winner's gap to the runner-up, others' to the winner."""
    least = np.full(x.shape, np.inf)
    for block in blocks(x, output_size, rank):
        cells, _ = _flat(block, x, rank)
        top = np.max(cells, axis=-1, keepdims=True)
        runner_up = np.max(np.where(cells == top, -np.inf, cells), axis=-1, keepdims=True)
        tied = np.sum(cells == top, axis=-1, keepdims=True) > 1
        gaps = np.where(cells == top, np.where(tied, 0, top - runner_up), top - cells)
        np.minimum.at(least, block.cells, np.reshape(gaps, x[block.cells].shape))
    return least
