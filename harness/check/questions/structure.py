"""Sizes that tensors hold together by their values: with others they would mean something else, or nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array
from opproof.harness.check.tensors import Tensor

#: Sorted or permuted numbers are so many at least: two may be so by chance.
_TELLING = 3
#: Axes of a matrix.
_MATRIX = 2
#: What holds everything twice is so long at least: of two numbers it says little that they are equal.
_LEAST = 4


def twice(tensor: Tensor) -> set[int]:
    """Sizes of axes that hold everything twice, as the cosines of a rotation do: half of them is read, or all."""
    if not tensor.kind:
        return set()
    found = set()
    for axis, n in enumerate(tensor.values.shape[: len(tensor.shape)]):
        x = np.moveaxis(tensor.values, axis, 0)
        halves = ((x[: n // 2], x[n // 2 :]), (x[::2], x[1::2])) if n % 2 == 0 and n >= _LEAST else ()
        if any(np.array_equal(a, b) for a, b in halves) and (x != x[:1]).any():
            found.add(n)
    return found


def chosen(tensor: Tensor) -> float | None:
    """What the other places hold where each row marks as many of its places, as labels of one class do; None else."""
    if (tensor.dtype != "bool" and not tensor.marks) or tensor.values.ndim < _MATRIX:
        return None
    rows = tensor.values.reshape(-1, tensor.values.shape[-1])
    low, high = rows.min(initial=0), rows.max(initial=0)
    count = np.unique((rows == high).sum(-1))
    if len(rows) < _TELLING or low == high or count.size != 1:
        return None
    return float(low if 2 * count[0] <= rows.shape[1] else high)


def ordered(rows: Array) -> NDArray[np.bool_]:
    """Which rows go up, or down, all along."""
    now, after = rows[..., :-1], rows[..., 1:]
    return np.asarray(np.all(after >= now, -1) | np.all(after <= now, -1))


def are_pieces(draws: Sequence[Sequence[Tensor]], at: int) -> bool:
    """Whether the tensor at a place holds, in every draw, lengths of the pieces of an axis, not always as long a one.

    That they add up to a size is no chance then.
    """
    sums = set()
    for draw in draws:
        values, sizes = draw[at].values, {n for i, t in enumerate(draw) if i != at for n in t.shape}
        if values.dtype.kind not in "iu" or values.ndim != 1 or values.min(initial=0) < 0:
            return False
        total = int(values.sum())
        if total not in sizes:
            return False
        sums.add(total)
    return len(sums) > 1


def whole(tensors: Sequence[Tensor]) -> list[int]:
    """Positions of those that hold whole numbers, with or without a sign, and are no parameters."""
    return [i for i, t in enumerate(tensors) if not t.kind and not t.param and t.values.dtype.kind in "iu"]


def pointed(tensor: Tensor) -> set[int]:
    """Sizes that a tensor which says which holds together: its axes and what its largest number points to."""
    values = tensor.values
    if (tensor.kind and not tensor.marks) or values.size < _TELLING:
        return set()
    rows = values.astype(np.float64).reshape(-1, values.shape[-1]) if values.ndim else values.reshape(1, 1)
    in_order = rows.shape[-1] > 1 and bool(ordered(rows).all())
    low = rows.min()
    permuted = bool(np.array_equal(np.sort(rows.ravel()), low + np.arange(rows.size)))
    if not (in_order or permuted):
        return set()
    most = int(rows.max()) if np.isfinite(rows.max()) else 0
    return {*tensor.shape, most, most + 1}
