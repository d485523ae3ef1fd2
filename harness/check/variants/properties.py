"""What the values of an input are in every draw: in order, of length 1, probabilities, symmetric. All that is tried is.

A kernel for sorted edges, unit quaternions or covariances may do with other numbers what it likes. What is not so by
chance (ten bits) is kept in every variant: restored where values were changed, and where it cannot be, they stay.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.harness.check.tensors import PARTS, CallTensor


def varies(tensor: CallTensor) -> bool:
    """Whether it has other values as well: floats that are no labels and no mask."""
    return bool(tensor.kind) and not tensor.param and not tensor.marks


def find_properties(draws: Sequence[CallTensor]) -> tuple[Property, ...]:
    """The properties that one input has in all of its draws."""
    first = draws[0]
    if not varies(first) or first.dtype in PARTS:
        return ()
    alike = all(t.kind == first.kind and t.values.ndim == first.values.ndim for t in draws)
    if not alike or not all(t.values.size and np.isfinite(t.values).all() for t in draws):
        return ()
    u, some = DTYPES[first.kind].u, []
    for p in list_properties(first.values.shape):
        bits = 0.0
        for t in draws:
            if not (told := p.bits(t.values, u)):
                break
            bits += told if t is first or not np.array_equal(t.values, first.values) else 0.0  # a table tells once
        else:
            if bits >= MIN_PROPERTY_BITS:
                some.append(p)
    return tuple(some)


def restore_properties(
    some: Sequence[Property], tensor: CallTensor, values: Array, *, placed: bool = True
) -> CallTensor | None:
    """The tensor holding `values`, once it has its properties again; None where it cannot have them.

    `placed`: the values stand where those of the tensor stood.
    """
    made = tensor.holding(values)
    some = [p for p in some if (placed or not p.in_places) and values.size]
    u = DTYPES[tensor.kind].u if some else 0.0
    for p in some:
        if not p.bits(made.values, u):
            made = tensor.holding(p.restored(tensor.values, made.values))
    return made if all(p.bits(made.values, u) for p in some) else None


#: Bits that a property takes not to be chance, and numbers of a row that tell: two are in order half of the time.
MIN_PROPERTY_BITS = 10.0
_MIN_DISTINCT_NUMBERS = 3
#: Of shares of 1, what is said of them.
DISTRIBUTION = "a distribution"
#: Unit roundoffs that a sum of rounded numbers may be off; and those of float32, in which they were made: some, and one
#: for each of them.
_MAX_SUM_ROUNDOFFS = 4.0
_FLOAT32_ROUNDOFF = 2.0**-24
_FLOAT32_ROUNDOFFS = 8
#: Columns of which two may be in order in every row, as the corners of boxes are.
_MAX_ORDERED_COLUMNS = 8
#: Zeros that are no chance, as of padding: so many, and this share of all.
_MIN_PADDING_ZEROS = 8
_MIN_PADDING_SHARE = 1 / 16


@dataclass(frozen=True)
class Property:
    """`bits`: how unlikely it is by chance that values, of a unit roundoff, are so; 0 where they are not so.

    `restored`: of the values that an input had and of others, those that are near the others and so again.
    """

    said: str
    bits: Callable[[Array, float], float]
    restored: Callable[[Array, Array], Array]
    in_places: bool = False  # it says which places, and nothing of a tensor of another size


def list_properties(shape: tuple[int, ...]) -> Iterator[Property]:
    """All that a tensor of this shape may have."""
    for axis in range(-1, -len(shape) - 1, -1):
        yield from _list_along_axis(axis)
    if len(shape) >= 2:
        if shape[-1] == shape[-2]:
            yield from _of_matrices()
        if shape[-1] <= _MAX_ORDERED_COLUMNS:
            for low, high in permutations(range(shape[-1]), 2):
                yield _make_column_order(low, high)
    if shape:
        yield _make_repeated("alike in both halves of a row", halves=True)
        yield _make_repeated("alike in pairs", halves=False)
    yield Property("zero in places", _count_zero_bits, lambda old, v: np.where(old == 0, 0.0, v), in_places=True)


def _list_along_axis(axis: int) -> Iterator[Property]:
    def ordered(v: Array, _: float) -> float:
        rows = np.moveaxis(v, axis, -1).reshape(-1, v.shape[axis])
        if rows.shape[1] < _MIN_DISTINCT_NUMBERS or (rows[:, 1:] < rows[:, :-1]).any():
            return 0.0
        distinct = 1 + np.count_nonzero(rows[:, 1:] > rows[:, :-1], axis=1)
        return sum(math.lgamma(n + 1) / math.log(2) - 1 for n in distinct.tolist() if n >= _MIN_DISTINCT_NUMBERS)

    def norm(v: Array, u: float) -> float:
        return _count_bits_of_one(v, np.sum(v * v, axis), u, axis)

    def total(v: Array, u: float) -> float:
        return _count_bits_of_one(v, np.sum(v, axis), u, axis) if (v >= 0).all() else 0.0

    def logarithm(v: Array, u: float) -> float:
        if (v > 0).any():
            return 0.0
        p = np.exp(v)
        return _count_bits_of_one(v, np.sum(p, axis), u * (1 + float(np.max(np.sum(-p * v, axis), initial=0))), axis)

    def less_lse(_: Array, v: Array) -> Array:
        most = v.max(axis, keepdims=True)
        return np.asarray(v - most - np.log(np.exp(v - most).sum(axis, keepdims=True)))

    yield Property("in order", ordered, lambda _, v: np.sort(v, axis))
    yield Property("in order", lambda v, u: ordered(-v, u), lambda _, v: -np.sort(-v, axis))
    yield Property("of length 1", norm, lambda _, v: _divide_by_nonzero(v, np.sqrt(np.sum(v * v, axis, keepdims=True))))
    yield Property(
        DISTRIBUTION, total, lambda _, v: _divide_by_nonzero(np.abs(v), np.sum(np.abs(v), axis, keepdims=True))
    )
    yield Property("a distribution's logarithm", logarithm, less_lse)


def _of_matrices() -> Iterator[Property]:
    yield Property("symmetric", _count_symmetric_bits, lambda _, v: _make_symmetric(v))
    yield Property("positive semidefinite", _count_definite_bits, lambda _, v: v)
    for half in (np.tril, np.triu):
        yield _make_triangular(half)


def _make_repeated(said: str, *, halves: bool) -> Property:
    """Of tables of angles, of which kernels read one half."""

    def split(v: Array) -> tuple[Array, Array]:
        n = v.shape[-1] // 2
        return (v[..., :n], v[..., n : 2 * n]) if halves else (v[..., : 2 * n : 2], v[..., 1::2])

    def bits(v: Array, _: float) -> float:
        a, b = split(v)
        return float(np.unique(a).size) / 2 if 2 * a.size == v.size and np.array_equal(a, b) else 0.0

    def restored(_: Array, v: Array) -> Array:
        made = np.array(v)
        a, b = split(made)
        b[...] = a
        return made

    return Property(said, bits, restored)


def _make_column_order(low: int, high: int) -> Property:
    def bits(v: Array, _: float) -> float:
        if v.shape[-1] <= max(low, high):
            return 0.0
        by = v[..., high] - v[..., low]
        if (by < 0).any() or np.unique(by).size < _MIN_DISTINCT_NUMBERS:  # of constants nothing is told
            return 0.0
        return float(np.count_nonzero(by)) / 2

    def restored(_: Array, v: Array) -> Array:
        made = np.array(v)
        if v.shape[-1] <= max(low, high):
            return made
        made[..., low] = np.minimum(v[..., low], v[..., high])
        made[..., high] = np.maximum(v[..., low], v[..., high])
        return made

    return Property(f"in order from column {low} to {high}", bits, restored)


def _count_bits_of_one(v: Array, sums: Array, u: float, axis: int) -> float:
    """Bits that all sums are 1, as far as rounding lets them."""
    off = _MAX_SUM_ROUNDOFFS * u + (_FLOAT32_ROUNDOFFS + v.shape[axis]) * _FLOAT32_ROUNDOFF
    if v.shape[axis] < 2 or (np.abs(sums - 1) > off).any() or np.unique(np.abs(v)).size < _MIN_DISTINCT_NUMBERS:
        return 0.0
    return float(sums.size) * max(-math.log2(2 * off), 1.0)


def _divide_by_nonzero(v: Array, by: Array) -> Array:
    return np.asarray(v / np.where(by == 0, 1, by))


def _count_symmetric_bits(v: Array, _: float) -> float:
    n = v.shape[-1]
    told = n == v.shape[-2] and n >= 2 and np.array_equal(v, v.swapaxes(-1, -2))
    return MIN_PROPERTY_BITS if told and np.unique(v).size >= _MIN_DISTINCT_NUMBERS else 0.0


def _make_symmetric(v: Array) -> Array:
    return (v + v.swapaxes(-1, -2)) / 2 if v.shape[-1] == v.shape[-2] else v


def _count_definite_bits(v: Array, u: float) -> float:
    if not _count_symmetric_bits(v, u):
        return 0.0
    values = np.linalg.eigvalsh(v)
    far = values[..., 0] < -v.shape[-1] * u * np.abs(values[..., -1])
    return 0.0 if far.any() else float(values.size)


def _make_triangular(half: Callable[[Array], Array]) -> Property:
    def bits(v: Array, _: float) -> float:
        n = v.shape[-1]
        if n < _MIN_DISTINCT_NUMBERS or n != v.shape[-2] or not np.array_equal(v, half(v)):
            return 0.0
        return MIN_PROPERTY_BITS if np.count_nonzero(v) > math.prod(v.shape[:-1]) else 0.0  # more than a diagonal

    return Property("triangular", bits, lambda _, v: half(v))


def _count_zero_bits(v: Array, _: float) -> float:
    zeros = int(np.count_nonzero(v == 0))
    return MIN_PROPERTY_BITS if v.size > zeros >= max(_MIN_PADDING_ZEROS, _MIN_PADDING_SHARE * v.size) else 0.0


#: Sorted or permuted numbers are so many at least: two may be so by chance.
_MIN_ORDERED_NUMBERS = 3
#: Axes of a matrix.
_MATRIX_AXES = 2
#: What holds everything twice is so long at least: of two numbers it says little that they are equal.
_MIN_DOUBLED_LENGTH = 4


def find_doubled_sizes(tensor: CallTensor) -> set[int]:
    """Sizes of axes that hold everything twice, as the cosines of a rotation do: half of them is read, or all."""
    if not tensor.kind:
        return set()
    found = set()
    for axis, n in enumerate(tensor.values.shape[: len(tensor.shape)]):
        x = np.moveaxis(tensor.values, axis, 0)
        halves = ((x[: n // 2], x[n // 2 :]), (x[::2], x[1::2])) if n % 2 == 0 and n >= _MIN_DOUBLED_LENGTH else ()
        if any(np.array_equal(a, b) for a, b in halves) and (x != x[:1]).any():
            found.add(n)
    return found


def find_unmarked_value(tensor: CallTensor) -> float | None:
    """What the other places hold where each row marks as many of its places, as labels of one class do; None else."""
    if (tensor.dtype != "bool" and not tensor.marks) or tensor.values.ndim < _MATRIX_AXES:
        return None
    rows = tensor.values.reshape(-1, tensor.values.shape[-1])
    low, high = rows.min(initial=0), rows.max(initial=0)
    count = np.unique((rows == high).sum(-1))
    if len(rows) < _MIN_ORDERED_NUMBERS or low == high or count.size != 1:
        return None
    return float(low if 2 * count[0] <= rows.shape[1] else high)


def find_ordered_rows(rows: Array) -> NDArray[np.bool_]:
    """Which rows go up, or down, all along."""
    now, after = rows[..., :-1], rows[..., 1:]
    return np.asarray(np.all(after >= now, -1) | np.all(after <= now, -1))


def are_pieces(draws: Sequence[Sequence[CallTensor]], at: int) -> bool:
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


def find_whole_numbers(tensors: Sequence[CallTensor]) -> list[int]:
    """Positions of those that hold integers, with or without a sign, and are no parameters."""
    return [i for i, t in enumerate(tensors) if not t.kind and not t.param and t.values.dtype.kind in "iu"]


def find_pointed_sizes(tensor: CallTensor) -> set[int]:
    """Sizes that a tensor which says which holds together: its axes and what its largest number points to."""
    values = tensor.values
    if (tensor.kind and not tensor.marks) or values.size < _MIN_ORDERED_NUMBERS:
        return set()
    rows = values.astype(np.float64).reshape(-1, values.shape[-1]) if values.ndim else values.reshape(1, 1)
    in_order = rows.shape[-1] > 1 and bool(find_ordered_rows(rows).all())
    low = rows.min()
    permuted = bool(np.array_equal(np.sort(rows.ravel()), low + np.arange(rows.size)))
    if not (in_order or permuted):
        return set()
    most = int(rows.max()) if np.isfinite(rows.max()) else 0
    return {*tensor.shape, most, most + 1}
