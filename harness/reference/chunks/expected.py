"""What is expected of one block, with its error scale: of all at once, or of parts in turn, added up."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.core.system import count_cores
from opproof.core.verdicts import Mode
from opproof.harness.reference.axes import Axis
from opproof.harness.reference.chunks.blocks import Block, Region, region_of, split_block, take_block
from opproof.harness.reference.chunks.memory_budget import MAX_PARALLEL_BLOCKS, ChunkPlan, NoisePlan
from opproof.harness.reference.expected import evaluate_expected, values_of
from opproof.harness.reference.question import Expected, Question, name_outputs
from opproof.harness.reference.roundoff import RUNS, compute_roundoff, ignore_fp_warnings


def expect_in_block(
    posed: Question, room: ChunkPlan, block: Block, noise: NoisePlan, needs: Sequence[bool], declared: str | None
) -> list[Expected | None]:
    """The expected results of `block`, gradients where needed.

    Where that is more than noise has room for, what its parts share is added up, the sum's roundings too. Of few runs,
    which settle nothing, the first part's stand for all: data are drawn alike for every part.
    """
    parts = [*split_block(block, noise.sizes)]

    def asked(part: Block) -> Question:
        return take_block(posed, room.axes, part).given(needs=tuple(needs), runs=noise.runs, together=noise.together)

    def expected(part: Block) -> list[Expected | None]:
        return [
            e if e is None or noise.runs == RUNS else _raise_low_scales(e)
            for e in evaluate_expected(asked(part), declared)
        ]

    if len(parts) == 1:
        return expected(block)
    sums: list[_Sum | None] = [None for _ in posed.inputs]
    first = expected(parts[0])

    def alike(part: Block) -> list[Expected | None]:
        pairs = zip(first, values_of(asked(part)), strict=True)
        return [None if e is None or v is None else replace(e, values=v) for e, v in pairs]

    settled = noise.runs == RUNS or not _is_uniform(parts)
    others = ((part, expected(part)) for part in parts[1:]) if settled else in_turn(alike, parts[1:])
    for part, found in itertools.chain([(parts[0], first)], others):
        for i, (name, x, e) in enumerate(zip(posed.names, posed.inputs, found, strict=True)):
            if e is not None and name is not None and x is not None:
                place = region_of(room.axes, block, name, x.shape)
                of = sums[i] or _Sum(tuple(s.stop - s.start for s in place))
                of.add(e, locate_part(room.axes, block, part, name, x.shape))
                sums[i] = of
    interior = compute_roundoff(DTYPES[posed.case.dtype], declared)
    rounding = [interior / DTYPES[posed.dtype_of(i)].u for i in range(len(sums))]
    return [None if s is None else s.expected(r) for s, r in zip(sums, rounding, strict=True)]


def evaluate_in_block(posed: Question, room: ChunkPlan, block: Block, name: str, shape: tuple[int, ...]) -> Array:
    """The expected values of one result in `block`, as many slices at once as there is room for."""
    forward = posed.mode is Mode.FORWARD
    place = region_of(room.axes, block, name, shape)
    total: Array = np.zeros(tuple(s.stop - s.start for s in place))
    for part in split_block(block, room.values):
        values = values_of(take_block(posed, room.axes, part))
        names = name_outputs(posed.op, len(values)) if forward else posed.names
        own = values[list(names).index(name)]
        if own is not None:
            total[locate_part(room.axes, block, part, name, shape)] += own
    return total


def locate_part(axes: Sequence[Axis], block: Block, part: Block, name: str, shape: tuple[int, ...]) -> Region:
    """Where the tensor's share of `part` lies in that of `block`."""
    outer, inner = (region_of(axes, b, name, shape) for b in (block, part))
    return tuple(slice(i.start - o.start, i.stop - o.start) for o, i in zip(outer, inner, strict=True))


def _is_uniform(parts: Sequence[Block]) -> bool:
    """Whether all parts hold as many slices of every axis."""
    return len({tuple(stop - start for start, stop in part) for part in parts}) == 1


def _raise_low_scales(expected: Expected) -> Expected:
    """Of few runs a scale may come out too small: it is held to be what nine in ten of its row are."""
    if not expected.scale.size or not expected.scale.ndim:
        return expected
    return replace(expected, scale=np.maximum(expected.scale, np.quantile(expected.scale, 0.1, axis=-1, keepdims=True)))


class _Sum:
    """Expected arrays of parts, added up where they overlap."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._values, self._squares, self._terms, self._scales = (np.zeros(shape) for _ in range(4))
        self._last: Expected | None = None

    def add(self, part: Expected, place: Region) -> None:
        self._values[place] += part.values
        self._squares[place] += np.square(part.values)
        self._scales[place] += np.square(part.scale)
        self._terms[place] += 1
        self._last = part

    def expected(self, rounding: float) -> Expected:
        """Return the sum; `rounding` is that of an addition, in units of u(dtype) (see montecarlo/array.py)."""
        assert self._last is not None
        added = self._terms * (np.square(self._values) / 3 + self._squares / 2)
        scale: NDArray[np.float64] = np.sqrt(self._scales + np.where(self._terms > 1, rounding**2 * added, 0.0))
        exact = self._last.exact
        return Expected(self._values, np.zeros_like(scale) if exact else scale, exact, self._last.faithful)


_Given = TypeVar("_Given")
_Made = TypeVar("_Made")


def in_turn(make: Callable[[_Given], _Made], items: Iterable[_Given]) -> Iterator[tuple[_Given, _Made]]:
    """Every item with what `make` makes of it, never more than two in the making or waiting."""
    if count_cores() == 1:
        yield from ((item, make(item)) for item in items)
        return
    waiting: deque[tuple[_Given, Future[_Made]]] = deque()
    with (
        ignore_fp_warnings(),
        ThreadPoolExecutor(MAX_PARALLEL_BLOCKS) as pool,
    ):  # quiet: threads that end in turn leave each other's filters
        for item in items:
            if len(waiting) == MAX_PARALLEL_BLOCKS:
                earlier, made = waiting.popleft()
                yield earlier, made.result()
            waiting.append((item, pool.submit(make, item)))
        while waiting:
            earlier, made = waiting.popleft()
            yield earlier, made.result()
