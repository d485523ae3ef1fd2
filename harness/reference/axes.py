"""Axes along which an operator is a map: what belongs to a slice there, and how the data of large cases repeat.

Slices can be evaluated one by one, and hold no other's data. In large cases those of one period come again and again: a
prime number of slices, so that no power of two and no tile is a multiple of it. Who reads another row, block or stride
than his own reads other data. What repeats need be drawn and evaluated once; every element of an answer is compared.
Cotangents repeat up to a sign, drawn for each repeat: gradients of what all slices share are sums over the repeats, and
of equal terms again and again a sum grows as none of other data does.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from opproof.cases import Case
from opproof.cases._fills.by_tensor import SPREAD
from opproof.cases._fills.exhaustive import is_every
from opproof.cases._fills.fills import GROWING, REPORTS
from opproof.cases._fills.random_bits import bits_of
from opproof.cases._fills.stored import is_stored
from opproof.core.arrays import Array, allocate_tensor
from opproof.core.dtypes import DTYPES
from opproof.core.errors import OpError
from opproof.core.tuples import tuple_of
from opproof.reference_ops import Op, Trait

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Axis:
    """`extent` slices; `of` says which axis of a tensor, input or output, counted from the last, it is.

    A tensor that is not named, or has too few axes, belongs to every slice as a whole. One that is shorter there, by
    a whole factor, has slices that several share: groups of heads, what is broadcast. Their gradients add up.
    """

    extent: int
    of: Mapping[str, int]

    def within(self, name: str, shape: Shape) -> int | None:
        """Which axis it is of a tensor of this shape; None where it is none."""
        at = self.of.get(name)
        return None if at is None or -at > len(shape) else at

    def count_sharing(self, name: str, shape: Shape) -> int:
        """How many slices share one of the tensor's."""
        at = self.within(name, shape)
        return self.extent if at is None else self.extent // max(shape[at], 1)

    def valid(self, size: int, shapes: Mapping[str, Shape]) -> bool:
        """Whether blocks of `size` slices split no tensor between two of them unevenly."""
        factors = [self.count_sharing(name, shape) for name, shape in shapes.items()]
        return all(size % f == 0 or f % size == 0 for f in factors if f < self.extent) or size == self.extent

    def larger(self, size: int, shapes: Mapping[str, Shape]) -> int:
        """The next valid size, about twice `size`."""
        return next(n for n in range(min(2 * size, self.extent), self.extent + 1) if self.valid(n, shapes))


def axes_of(case: Case, op: Op) -> tuple[Axis, ...]:
    """The axes of `case` that are longer than 1; empty where its operator declares none, or has to see the whole."""
    whole = DTYPES[case.dtype].whole  # drawn so that the whole fits
    if op.ties is not None or op.settled is not None or whole:
        return ()
    return _find_axes(case, op, _find_declared_axes(case, op))


def mapped_axes_of(case: Case, op: Op) -> tuple[Axis, ...]:
    """The axes longer than 1 along which the operator is a map, whatever its dtype and however it is judged.

    Those too along which tensors of a pointwise operator are broadcast.
    """
    declared = _find_declared_axes(case, op)
    if not declared and op.independent is None and {Trait.POINTWISE, Trait.BROADCASTS} <= op.traits:
        declared = _name_every_axis(case, op)
    return _find_axes(case, op, declared)


def _find_axes(case: Case, op: Op, declared: Sequence[Mapping[str, int]]) -> tuple[Axis, ...]:
    shapes = case.shapes
    if op.drawn_from or any(isinstance(s, str) for _, s in case.tensors):
        return ()
    if any(0 in shape for shape in shapes.values()):
        return ()
    found = []
    for of in declared:
        named = [(name, shape) for name, shape in shapes.items() if name in of and -of[name] <= len(shape)]
        extent = max((shape[of[name]] for name, shape in named), default=1)
        if extent > 1 and all(extent % shape[of[name]] == 0 for name, shape in named):
            found.append(Axis(extent, of))
    return tuple(found)


def _find_declared_axes(case: Case, op: Op) -> Sequence[Mapping[str, int]]:
    shapes = case.shapes
    if op.independent is not None:
        return tuple(op.independent(shapes, **{**op.params, **case.kwargs}))
    if Trait.POINTWISE not in op.traits or len(set(shapes.values())) != 1:
        return ()
    return _name_every_axis(case, op)


def _name_every_axis(case: Case, op: Op) -> list[dict[str, int]]:
    """Each axis of the largest rank, as the same axis, counted from the last, of every tensor."""
    tensors = (*case.shapes, *op.outputs)
    return [dict.fromkeys(tensors, -k) for k in range(max(map(len, case.shapes.values()), default=0), 0, -1)]


#: Elements of a case from which on its data repeat.
MIN_REPEATED_ELEMENTS = 2**17
#: Elements of all tensors below which no product of axes is looked at.
_MIN_LOOKED_ELEMENTS = 2**10
#: Elements of one period that are aimed at: noise of so many takes as long as three calls of a backend.
_AIMED_PERIOD_ELEMENTS = 2**13
#: So many periods an axis holds at least, and so many times the elements of one the case.
_MIN_PERIODS = 3
_MIN_CASE_PERIODS = 4
#: Periods in slices, longest first: of the first axis that repeats, of the second, and so on. No two are alike, so
#: that the number of terms of a sum tells over which axes it goes. Neighbours of powers of two are left out.
_PRIMES = ((509, 251, 61, 29, 13, 7), (499, 241, 67, 37, 19, 11), (491, 239, 59, 41, 23), (487, 233, 53, 43))
#: Slices below which a period is taken only where the axis is too short for others.
_SHORT_PERIOD = 13
#: Fills that have no period: numbers that are listed, and sums that only grow.
_LISTED = frozenset({GROWING, SPREAD, "branches"})


@dataclass(frozen=True, eq=False)
class Repeat:
    """One axis of a case along which data repeat."""

    axis: Axis  # of the whole case
    period: int  # slices of it
    joined: int  # slices that some tensor shares: they belong together
    signs: NDArray[np.int8]  # of every repeat, the last one too, which may be part of one

    @property
    def count(self) -> int:
        """How many repeats there are, part of one included."""
        return len(self.signs)

    def is_shared(self, name: str, shape: Shape) -> bool:
        """Whether a tensor of the whole case belongs to all slices."""
        return self.axis.count_sharing(name, shape) == self.axis.extent

    def length_of(self, name: str, shape: Shape) -> int:
        """A period in steps of a tensor's own axis, which several slices may share."""
        return self.period // self.axis.count_sharing(name, shape)

    @cached_property
    def weights(self) -> Array:
        """Of each slice of a period the sum of the signs with which it comes."""
        slices = np.arange(self.period)
        last = slices < self.axis.extent - (self.count - 1) * self.period
        whole = int(self.signs[:-1].sum())
        return np.asarray(whole + np.where(last, float(self.signs[-1]), 0.0))


@dataclass(frozen=True)
class Periods:
    """Along which axes a case repeats, and the case of one period."""

    repeats: tuple[Repeat, ...]
    case: Case

    @property
    def multiples(self) -> tuple[tuple[int, float], ...]:
        """Terms of a sum over one period, and how many times as many the whole has."""
        return tuple((r.period, r.axis.extent / r.period) for r in self.repeats)

    def shape_of(self, name: str, shape: Shape) -> Shape | None:
        """The shape in the whole case of an output of one period; None where it lacks an axis."""
        return _exchange_sizes(name, shape, [(r.axis, r.period, r.axis.extent) for r in self.repeats])

    def period_of(self, name: str, shape: Shape) -> Shape | None:
        """The shape of one period of an output of the whole case; None where it lacks an axis."""
        return _exchange_sizes(name, shape, [(r.axis, r.axis.extent, r.period) for r in self.repeats])

    def iter_axes(self, name: str, shape: Shape) -> Iterator[tuple[int, Repeat, int, int]]:
        """The axes along which a tensor of the whole repeats: number, repeat, its own axis, its period there."""
        for k, r in enumerate(self.repeats):
            at = r.axis.within(name, shape)
            if at is not None and not r.is_shared(name, shape):
                yield k, r, at % len(shape), r.length_of(name, shape)

    def tile(self, values: Array, name: str, shape: Shape, *, signed: bool = False) -> Array:
        """`values` of one period in the whole case's `shape`; `signed`: each repeat with its sign."""
        along = sorted(self.iter_axes(name, shape), key=lambda a: a[2], reverse=True)
        for number, (_, r, at, length) in enumerate(along):
            sizes = (*values.shape[:at], shape[at], *values.shape[at + 1 :])
            last = number == len(along) - 1
            tiled = allocate_tensor(sizes, values.dtype) if last else np.empty(sizes, values.dtype)
            _tile_along(values, at, length, r.signs if signed else None, tiled)
            values = tiled
        return values

    def weigh(self, cotangent: Array, name: str, shared: Sequence[Repeat]) -> Array:
        """The cotangent of an output of one period, each slice times the sum of its signs along the axes `shared`."""
        for r in shared:
            at = r.axis.within(name, cotangent.shape)
            assert at is not None
            cotangent = cotangent * r.weights.reshape(-1, *(1,) * (-at - 1))
        return cotangent


def _exchange_sizes(name: str, shape: Shape, sizes: Sequence[tuple[Axis, int, int]]) -> Shape | None:
    """The shape of an output with the first size of each axis replaced by the second; None where it lacks an axis."""
    changed = list(shape)
    for axis, old, new in sizes:
        at = axis.within(name, shape)
        if at is None or shape[at] != old:
            return None
        changed[at] = new
    return tuple(changed)


def _tile_along(values: Array, at: int, length: int, signs: NDArray[np.int8] | None, tiled: Array) -> None:
    """Write the first `length` slices along axis `at` into `tiled` again and again, each time with its sign."""
    few, whole = np.moveaxis(values, at, 0), np.moveaxis(tiled, at, 0)
    count = len(whole) // length
    rest = len(whole) - count * length
    many = whole[: count * length].reshape(count, length, *whole.shape[1:])  # an axis that is parted is no copy
    if signs is None:
        many[...] = few
        whole[count * length :] = few[:rest]
        return
    own = signs.astype(values.dtype)
    np.multiply(few, own[:count].reshape(-1, *(1,) * few.ndim), out=many)
    if rest:
        np.multiply(few[:rest], own[count], out=whole[count * length :])


def find_periods(case: Case, op: Op) -> Periods | None:
    """How the data of `case` repeat; None where they do not, as those of all small cases."""
    size = sum(math.prod(shape) for shape in case.shapes.values())
    if size < _MIN_LOOKED_ELEMENTS or op.reference is not None or not _may_repeat(case):
        return None
    axes = mapped_axes_of(case, op)
    if max(size, math.prod(axis.extent for axis in axes)) < MIN_REPEATED_ELEMENTS:
        return None
    chosen = _choose_periods(case.shapes, axes)
    if not chosen:
        return None
    few = _shrink(case, chosen)
    repeats = tuple(
        Repeat(axis, period, joined, _draw_signs(f"{case}|signs {k}", -(-axis.extent // period)))
        for k, (axis, (period, joined)) in enumerate(chosen)
    )
    periods = Periods(repeats, few)
    return periods if op.independent is not None or _is_mapped(periods, op) else None


def _is_mapped(periods: Periods, op: Op) -> bool:
    """Whether a pointwise operator takes one period, and gives a result for each slice: of two halves it does not."""
    shapes = periods.case.shapes
    given = [shapes.get(name) for name in ([*shapes] if op.variadic else op.tensors)]
    ones = (None if shape is None else np.ones(shape) for shape in given)
    try:
        with np.errstate(all="ignore"):
            made = tuple_of(op.forward(*ones, **{**op.params, **periods.case.kwargs}))
    except (OpError, ValueError, IndexError):
        return False
    names = op.outputs if len(op.outputs) == len(made) else [f"y{i}" for i in range(len(made))]
    return all(periods.shape_of(name, np.shape(y)) is not None for name, y in zip(names, made, strict=True))


def _may_repeat(case: Case) -> bool:
    listed = is_every(case.fill) or is_stored(case.fill) or case.fill in REPORTS or case.fill in _LISTED
    return not listed and "broadcast" not in case.layout and "expanded" not in case.layout


#: An axis, its period and how many slices are joined.
_Chosen = tuple[Axis, tuple[int, int]]


def _choose_periods(shapes: Mapping[str, Shape], axes: Sequence[Axis]) -> list[_Chosen]:
    """Periods that are as long as leaves a period few elements; none where too little repeats."""
    ladders: list[list[tuple[int, int]]] = [[] for _ in axes]
    for k in sorted(range(len(axes)), key=lambda k: -axes[k].extent):
        ladders[k] = _list_periods(shapes, axes[k], sum(map(bool, ladders)))
    steps = [0 if ladder else None for ladder in ladders]
    whole = _count(shapes, axes, [axis.extent for axis in axes])

    def sizes() -> list[int]:
        pairs = zip(axes, ladders, steps, strict=True)
        return [axis.extent if at is None else ladder[at][0] for axis, ladder, at in pairs]

    while (few := _count(shapes, axes, sizes())) > _AIMED_PERIOD_ELEMENTS:
        open_ = [k for k, at in enumerate(steps) if at is not None and at + 1 < len(ladders[k])]
        if not open_:
            break
        longest = max(open_, key=lambda k: sizes()[k])
        steps[longest] = (steps[longest] or 0) + 1
    if few * _MIN_CASE_PERIODS > whole:
        return []
    trios = zip(axes, ladders, steps, strict=True)
    return [(axis, ladder[at]) for axis, ladder, at in trios if at is not None]


def _list_periods(shapes: Mapping[str, Shape], axis: Axis, number: int) -> list[tuple[int, int]]:
    """The periods that an axis can have, longest first, each with how many slices are joined."""
    factors = (axis.count_sharing(name, shape) for name, shape in shapes.items())
    joined = math.lcm(*(f for f in factors if f < axis.extent))
    if number >= len(_PRIMES) or axis.extent % joined:
        return []
    others = {n for shape in shapes.values() for n in shape}  # a sum over another axis is none over slices
    found = [
        (prime * joined, joined)
        for prime in _PRIMES[number]
        if prime * joined * _MIN_PERIODS <= axis.extent and all(n == axis.extent or n % prime for n in others)
    ]
    return [at for at in found if at[0] >= _SHORT_PERIOD * joined] or found


def _count(shapes: Mapping[str, Shape], axes: Sequence[Axis], sizes: Sequence[int]) -> int:
    """Elements of all tensors where the axes have so many slices, or of a result that has one for each."""
    elements = sum(math.prod(_resize(axes, sizes, name, shape)) for name, shape in shapes.items())
    return max(elements, math.prod(sizes))


def _resize(axes: Sequence[Axis], sizes: Sequence[int], name: str, shape: Shape) -> Shape:
    resized = list(shape)
    for axis, size in zip(axes, sizes, strict=True):
        at = axis.within(name, shape)
        if at is not None and axis.count_sharing(name, shape) < axis.extent:
            resized[at] = max(1, size // axis.count_sharing(name, shape))
    return tuple(resized)


def _shrink(case: Case, chosen: Sequence[_Chosen]) -> Case:
    """The case of one period; where its results lie makes no difference to what they are."""
    axes, sizes = [axis for axis, _ in chosen], [period for _, (period, _) in chosen]
    tensors = tuple((name, _resize(axes, sizes, name, shape)) for name, shape in case.shapes.items())
    return replace(case.apart, tensors=tensors, layout="contiguous")


def _draw_signs(key: str, count: int) -> NDArray[np.int8]:
    """Signs of so many repeats whose sum is about the root of their number, as that of terms that know of no other.

    The last is negative where any is, so that no slice's signs sum to 0 where it is lacking in the last repeat.
    """
    total = round(math.sqrt(count))
    total += (count + total) % 2
    signs = np.ones(count, dtype=np.int8)
    negative = (count - total) // 2
    if negative > 0:
        order = np.argsort(bits_of(key)(count - 1), kind="stable")
        signs[order[: negative - 1]] = -1
        signs[-1] = -1
    return signs
