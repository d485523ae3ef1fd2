"""A large case judged in a small memory: values of all slices, noise of some.

The values are evaluated once, in blocks, and every element is held to the least scale of the drawn slices, in roundoffs
and as a share of |expected|: data are drawn alike for every slice. An element that this does not pass is judged by
noise of its own slice: no honest one fails for another's sake, and hardly a wrong one hides behind another's scale.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from opproof.cases._fills.random_bits import bits_of
from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.core.verdicts import WRONG, Mode, Verdict
from opproof.harness.judge.chunk_screen import Screen, SuspectElement, split_array
from opproof.harness.judge.gradient import Rules
from opproof.harness.judge.judgement import Judgement, find_largest_ulp, find_missing, is_stale, judge
from opproof.harness.judge.outputs import Outputs
from opproof.harness.reference.axes import Shape
from opproof.harness.reference.chunks.blocks import (
    Block,
    count,
    cover,
    find_containing_block,
    make_whole_block,
    region_of,
    split_block,
    take_block,
)
from opproof.harness.reference.chunks.expected import evaluate_in_block, expect_in_block, in_turn
from opproof.harness.reference.chunks.memory_budget import ChunkPlan, NoisePlan
from opproof.harness.reference.expected import expect_unscaled, is_bitwise, is_faithful, values_of
from opproof.harness.reference.question import Expected, Question, name_outputs
from opproof.harness.reference.roundoff import RUNS

#: The most slices that are drawn, and the most of suspects' that are judged by noise of their own.
MAX_DRAWN_SLICES = 8
MAX_JUDGED_SUSPECTS = 256
#: Beyond so many bounds by the largest scale of the drawn slices an element is hardly right.
MIN_FAR_BOUNDS = 8.0


def judge_in_slices(posed: Question, answer: Outputs, rules: Rules, room: ChunkPlan) -> Judgement:
    """Judge an answer of the right number, shapes and dtypes."""
    forward = posed.mode is Mode.FORWARD
    names = tuple(name_outputs(posed.op, len(answer.arrays)) if forward else map(str, posed.names))
    arrays = {n: a for n, a in zip(names, answer.arrays, strict=True) if a is not None}
    asked = LargeAnswer(posed, room, rules, arrays, names)
    drawn = _draw_slices(asked)
    narrow, wide = ({n: _find_scales(asked, drawn[n], n, largest=largest) for n in arrays} for largest in (False, True))
    screens = _check_elements(asked, narrow, wide)
    suspected, unsettled = _judge_suspects(asked, screens)
    first = [*{id(s): s for slices in drawn.values() for s in slices}.values()]
    summed = _sum_up(answer, first, suspected, screens, unsettled)
    ulp = find_largest_ulp((name, screen.ulp) for name, screen in screens.items())
    return replace(summed, left_out=find_missing(posed, answer), ulp=ulp)


def _draw_slices(asked: LargeAnswer) -> dict[str, list[JudgedSlice]]:
    """By result, slices drawn from the case's id, judged by themselves; first those that others are parts of."""
    axes, slices = asked.room.axes, count(make_whole_block(asked.room.axes))
    bits = bits_of(f"{asked.posed.case}|slices")
    done: dict[tuple[Block, int], JudgedSlice] = {}
    found: dict[str, list[JudgedSlice]] = {name: [] for name in asked.arrays}
    one_each = tuple((0, 1) for _ in axes)
    covers = {name: count(cover(axes, one_each, name, shape)) for name, shape in asked.shapes.items()}
    for name, shape in sorted(asked.shapes.items(), key=lambda item: -covers[item[0]]):
        noise = asked.room.noise[name]
        number = min(MAX_DRAWN_SLICES, max(1, slices // (2 * RUNS * math.prod(noise.sizes))))
        found[name] += [one for one in done.values() if name in one.expected][:number]
        for _ in range(number - len(found[name])):
            ranges = []
            for axis, size, raw in zip(axes, noise.sizes, bits(len(axes)), strict=True):
                start = int(raw) % -(-axis.extent // size) * size
                ranges.append((start, min(start + size, axis.extent)))
            block = cover(axes, tuple(ranges), name, shape)
            if (block, noise.runs) not in done:
                done[block, noise.runs] = by_its_noise(asked, block, name)
            one = done[block, noise.runs]
            found[name].append(one if name in one.expected else by_its_noise(asked, block, name))
    return found


def _find_scales(asked: LargeAnswer, drawn: Sequence[JudgedSlice], name: str, *, largest: bool) -> Scales:
    shape = asked.shapes[name]
    joined = {at % len(shape) for axis in asked.room.axes if (at := axis.within(name, shape)) is not None}
    return collect_scales([s.expected[name] for s in drawn], tuple(sorted(joined)), largest=largest)


def _check_elements(asked: LargeAnswer, narrow: Mapping[str, Scales], wide: Mapping[str, Scales]) -> dict[str, Screen]:
    """Every element of every result, as the values come; what adds up over blocks at the end."""
    posed, axes = asked.posed, asked.room.axes
    screens = {n: Screen(asked.dtype_of(n), asked.rules.strict_subnormals) for n in asked.arrays}
    sums: dict[str, Array] = {}
    apart = _find_added_apart(asked)

    def look(name: str, values: Array, place: tuple[slice, ...]) -> None:
        for part in split_array(values.shape):  # scales of a whole block are twice as large as it
            there = tuple(slice(s.start + p.start, s.start + p.stop) for s, p in zip(place, part, strict=True))
            expected = [asked.expected(name, values[part], scale[name], there) for scale in (narrow, wide)]
            screens[name].add(asked.arrays[name][there], *expected, at=tuple(s.start for s in there))

    parts = in_turn(
        lambda block: values_of(take_block(posed, axes, block)), split_block(make_whole_block(axes), asked.room.values)
    )
    for block, values in parts:
        for name, part in zip(asked.names, values, strict=True):
            if part is None or name not in asked.shapes or name in apart:
                continue
            shape = asked.shapes[name]
            place = region_of(axes, block, name, shape)
            if cover(axes, block, name, shape) == block:
                look(name, part, place)
            else:
                sums.setdefault(name, np.zeros(shape))[place] += part
    for name, total in sums.items():
        look(name, total, tuple(slice(0, n) for n in total.shape))
    for name, shape in ((n, asked.shapes[n]) for n in apart):
        for block in split_block(make_whole_block(axes), _count_covered(asked, name)):
            look(name, evaluate_in_block(posed, asked.room, block, name, shape), region_of(axes, block, name, shape))
    return screens


def _find_added_apart(asked: LargeAnswer) -> list[str]:
    """Results that add up over blocks and are too large for one sum: each is evaluated once more, a part at a time."""
    axes, one_each = asked.room.axes, tuple((0, 1) for _ in asked.room.axes)
    shared = [n for n, shape in asked.shapes.items() if cover(axes, one_each, n, shape) != one_each]
    left = asked.room.memory / 4
    apart = []
    for name in sorted(shared, key=lambda n: math.prod(asked.shapes[n])):
        size = 8 * math.prod(asked.shapes[name])
        if size > left and _count_covered(asked, name) != tuple(axis.extent for axis in axes):
            apart.append(name)
        else:
            left -= size
    return apart


def _count_covered(asked: LargeAnswer, name: str) -> tuple[int, ...]:
    """Of how many slices a block is in which the result is complete and takes an eighth of the memory at most."""
    axes, shape = asked.room.axes, asked.shapes[name]
    sizes = [axis.count_sharing(name, shape) for axis in axes]
    for k, axis in enumerate(axes):
        while sizes[k] < axis.extent:
            larger = [*sizes[:k], axis.larger(sizes[k], asked.posed.case.shapes), *sizes[k + 1 :]]
            where = region_of(axes, tuple((0, n) for n in larger), name, shape)
            if 8 * math.prod(s.stop - s.start for s in where) > asked.room.memory / 8:
                break
            sizes = larger
    return tuple(sizes)


def _judge_suspects(asked: LargeAnswer, screens: Mapping[str, Screen]) -> tuple[list[JudgedSlice], int]:
    """Slices of suspects, judged until one is wrong, the farthest out first; and how many others are far beyond any
    scale that was seen.

    Where slices are small, also those of the elements that are the closest to the narrow bound.
    """
    axes, slices = asked.room.axes, count(make_whole_block(asked.room.axes))
    most = MAX_DRAWN_SLICES if slices <= MAX_DRAWN_SLICES else max(1, min(MAX_JUDGED_SUSPECTS, slices // 64))
    queue: list[tuple[SuspectElement, str]] = [(s, name) for name, screen in screens.items() for s in screen.kept]
    if slices > MAX_DRAWN_SLICES and most > 1:
        queue += [
            (SuspectElement(s.share, s.closest, 0.0), name) for name, s in screens.items() if s.closest is not None
        ]
    judged: dict[tuple[Block, str], JudgedSlice] = {}
    unsettled = 0
    for suspect, name in sorted(queue, key=lambda item: (item[0].out, item[0].share), reverse=True):
        shape = asked.shapes[name]
        block = cover(axes, find_containing_block(axes, name, shape, suspect.index), name, shape)
        if (block, name) in judged:
            continue
        if len(judged) >= most:
            unsettled += suspect.out > MIN_FAR_BOUNDS
            continue
        judged[block, name] = by_its_noise(asked, block, name, suspect=True)
        if judged[block, name].judgement.verdict in WRONG:
            break  # that settles it
    return list(judged.values()), unsettled


def _sum_up(
    answer: Outputs,
    drawn: Sequence[JudgedSlice],
    suspected: Sequence[JudgedSlice],
    screens: Mapping[str, Screen],
    unsettled: int,
) -> Judgement:
    looked = [*drawn, *suspected]
    how = f"judged in slices: the values of all, noise of {len(looked)}"
    failing = [s for s in looked if s.judgement.verdict in WRONG]
    if failing:
        return _make_failed(answer, max(failing, key=lambda s: s.share).moved, screens, how)
    if unsettled:
        said = f"{unsettled} more elements are suspect than are judged by noise of their own; give a smaller case"
        return Judgement(Verdict.INCONCLUSIVE, said)
    open_ = [s for s in drawn if s.judgement.verdict is not Verdict.PASS]
    if len(open_) == len(drawn):  # one slice that zeros would pass says nothing of the others
        return open_[0].moved
    return _make_passed([s.moved for s in drawn], [s.moved for s in suspected], screens, how)


def _make_failed(answer: Outputs, worst: Judgement, screens: Mapping[str, Screen], how: str) -> Judgement:
    finite = sum(s.finite for s in screens.values())
    return replace(
        worst,
        message="; ".join(filter(None, (worst.message, how))),
        nonfinite=max(worst.nonfinite, *(s.nonfinite for s in screens.values())),
        share=max(1, sum(s.out for s in screens.values())) / max(1, finite),
        zeros=all(s.zeros and not s.nothing for s in screens.values()),
        stale=is_stale(answer),
    )


def _make_passed(
    drawn: Sequence[Judgement], suspected: Sequence[Judgement], screens: Mapping[str, Screen], how: str
) -> Judgement:
    """The judgement that has the largest share of its bound; where no suspect was judged, by the narrow bound."""

    def share(units: float | None, limit: float | None) -> float:
        return (units or 0.0) / limit if limit else 0.0

    best = max((*drawn, *suspected), key=lambda j: share(j.units, j.limit))
    screen = max(screens.values(), key=lambda s: s.share)
    if not suspected and share(screen.units, screen.limit) > share(best.units, best.limit):
        best = replace(best, units=screen.units, limit=screen.limit, worst=None)
    return replace(best.with_largest(drawn), verdict=Verdict.PASS, message=how)


#: Bytes that judging an element takes whose expected value is added up over parts: sums, and the comparison.
SUMMED_BYTES_PER_ELEMENT = 160


@dataclass(frozen=True)
class LargeAnswer:
    """A large case with its answer: results by name, and the names of all results in order."""

    posed: Question
    room: ChunkPlan
    rules: Rules
    arrays: Mapping[str, Array]
    names: tuple[str, ...]

    @property
    def shapes(self) -> Mapping[str, Shape]:
        return {name: a.shape for name, a in self.arrays.items()}

    def dtype_of(self, name: str) -> str:
        return self.posed.dtype_of(self.names.index(name))

    def in_float64(self, block: Block) -> int:
        """Bytes of the tensors of `block`, cotangents too, in float64."""
        posed, axes = self.posed, self.room.axes
        given = [
            (n, v.shape) for n, v in zip(posed.names, posed.inputs, strict=True) if n is not None and v is not None
        ]
        outputs = name_outputs(posed.op, len(posed.cotangents))
        given += [(n, g.shape) for n, g in zip(outputs, posed.cotangents, strict=True) if g is not None]
        places = [region_of(axes, block, n, shape) for n, shape in given]
        return 8 * sum(int(math.prod(s.stop - s.start for s in place)) for place in places)

    def expected(self, name: str, values: Array, scale: Scales, place: tuple[slice, ...]) -> Expected:
        """Values at `place` of the result `name`, held to the scale of other slices."""
        if values.dtype.kind != "f" or is_bitwise(self.posed):
            return expect_unscaled(self.posed, values)
        faithful = is_faithful(self.posed.case, self.rules.declared, DTYPES[self.dtype_of(name)])
        return Expected(values, scale.of(values, place), faithful=faithful)


@dataclass(frozen=True)
class JudgedSlice:
    """One that was judged by itself, and where its results begin in the whole."""

    judgement: Judgement
    expected: Mapping[str, Expected]
    at: Mapping[str, tuple[int, ...]]

    @property
    def share(self) -> float:
        """Of what is allowed, how much the farthest element takes."""
        units, limit = self.judgement.units or 0.0, self.judgement.limit or 0.0
        return np.inf if not np.isfinite(units) else units / limit if limit > 0 else units

    @property
    def moved(self) -> Judgement:
        """The judgement with its worst element where it stands in the whole."""

        def place(tensor: str, index: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(a + i for a, i in zip(self.at[tensor], index, strict=True))

        return replace(self.judgement.with_places(place), tensors=())


def by_its_noise(asked: LargeAnswer, block: Block, name: str, *, suspect: bool = False) -> JudgedSlice:
    """`block` judged by noise of its own: the result `name`, and all others that are complete there.

    A `suspect` was chosen for its error, and all of a row may share one: that it is large on average says nothing of
    the whole, which the slices that are drawn tell. Its elements are judged as any are.
    """
    few = asked.room.noise[name]
    first = _by_noise(asked, block, few, name, suspect)
    if first.judgement.verdict is Verdict.PASS or few.runs == RUNS:
        return first
    return _by_noise(asked, block, replace(few, runs=RUNS), name, suspect)  # of few runs it may be too little


def _by_noise(asked: LargeAnswer, block: Block, noise: NoisePlan, name: str, suspect: bool) -> JudgedSlice:
    complete = _complete(asked, block, name)
    needs = [n in complete for n in asked.names]
    expected = expect_in_block(asked.posed, asked.room, block, noise, needs, asked.rules.declared)
    return _judge_block(asked, block, expected, whole=not suspect)


def _complete(asked: LargeAnswer, block: Block, name: str) -> set[str]:
    """The results that are complete in `block`; those no larger than `name` alone where there is no room for all.

    A bias is complete in the block of all slices only, where the gradient of the input is as large as the input: that
    is judged on slices of its own then.
    """
    axes = asked.room.axes
    complete = {n: shape for n, shape in asked.shapes.items() if cover(axes, block, n, shape) == block}
    sizes = {n: math.prod(s.stop - s.start for s in region_of(axes, block, n, shape)) for n, shape in complete.items()}
    if sum(sizes.values()) * SUMMED_BYTES_PER_ELEMENT <= asked.room.memory / 2:
        return set(complete)
    return {n for n, size in sizes.items() if n == name or size <= sizes[name]}


def _judge_block(
    asked: LargeAnswer, block: Block, expected: Sequence[Expected | None], *, whole: bool = True
) -> JudgedSlice:
    axes = asked.room.axes
    places = {n: region_of(axes, block, n, shape) for n, shape in asked.shapes.items()}
    expected = [e if n in asked.arrays else None for n, e in zip(asked.names, expected, strict=True)]
    needs = tuple(e is not None for e in expected)
    arrays = [
        None if e is None else np.array(asked.arrays[n][places[n]]) for n, e in zip(asked.names, expected, strict=True)
    ]

    def judged(*, stored: bool) -> Judgement:
        piece = take_block(asked.posed, axes, block, stored=stored)
        piece = piece.given(needs=needs) if asked.posed.mode is Mode.GRADIENT else piece
        return judge(piece, Outputs(arrays), asked.rules, expected, whole=whole)

    large = asked.posed.op.kinks is None and asked.in_float64(block) > asked.room.memory / 4
    judgement = judged(stored=large)
    if large and judgement.verdict is not Verdict.PASS:  # other answers that are right are computed from the inputs
        judgement = judged(stored=False)
    found = {n: e for n, e in zip(asked.names, expected, strict=True) if e is not None}
    return JudgedSlice(judgement, found, {n: tuple(s.start for s in place) for n, place in places.items()})


@dataclass(frozen=True)
class Scales:
    """By place on the axes along which slices are not independent, 1 on the others: `absolute` and per |expected|."""

    absolute: NDArray[np.float64]
    relative: NDArray[np.float64]

    def of(self, values: Array, place: tuple[slice, ...]) -> NDArray[np.float64]:
        """The scale of `values` that lie at `place` of their tensor."""
        own = tuple(s if n > 1 else slice(None) for s, n in zip(place, self.absolute.shape, strict=True))
        scale = np.maximum(self.absolute[own], self.relative[own] * np.abs(values))
        return np.nan_to_num(scale, nan=0.0, posinf=0.0)


def collect_scales(samples: Sequence[Expected], joined: tuple[int, ...], *, largest: bool = False) -> Scales:
    """The least scales of the samples, or the largest; along the axes `joined` they are slices like all others."""
    pick, start = (np.fmax, 0.0) if largest else (np.fmin, np.inf)
    absolute: list[Array] = []
    relative: list[Array] = []
    for sample in samples:
        size = np.abs(sample.values)
        scale = np.where(np.isfinite(size) & (sample.scale > 0), sample.scale, np.nan)
        with np.errstate(all="ignore"):
            share = np.where(size > 0, scale / size, np.nan)
        for ends, found in ((absolute, scale), (relative, share)):
            ends.append(pick.reduce(np.nan_to_num(found, nan=start), axis=joined, keepdims=True, initial=start))
    both = (pick.reduce(ends) for ends in (absolute, relative))
    return Scales(*(np.where(np.isfinite(e), e, 0.0) for e in both))
