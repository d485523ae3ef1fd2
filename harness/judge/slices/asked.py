"""A large case with its answer, and one of its slices judged as any case is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.core.verdicts import Mode, Verdict
from opproof.harness.judge.answer import Answer
from opproof.harness.judge.gradient import Rules
from opproof.harness.judge.judgement import Judgement, judge
from opproof.harness.judge.slices.scale import Scales
from opproof.harness.reference.chunks.blocks import Block, Shape, cover, region, taken
from opproof.harness.reference.chunks.expected import expected_in, values_in
from opproof.harness.reference.chunks.memory_budget import Noise, Room
from opproof.harness.reference.expected import Expected, is_bitwise, is_faithful, unscaled
from opproof.harness.reference.question import Posed, output_names
from opproof.harness.reference.roundoff import RUNS

#: Bytes that judging an element takes whose expected value is added up over parts: sums, and the comparison.
SUMMED = 160


@dataclass(frozen=True)
class Asked:
    """A large case with its answer: results by name, and the names of all results in order."""

    posed: Posed
    room: Room
    rules: Rules
    arrays: Mapping[str, Array]
    names: tuple[str, ...]

    @property
    def shapes(self) -> Mapping[str, Shape]:
        """Shapes of the results."""
        return {name: a.shape for name, a in self.arrays.items()}

    def dtype_of(self, name: str) -> str:
        """The dtype of the result `name`."""
        return self.posed.dtype_of(self.names.index(name))

    def in_float64(self, block: Block) -> int:
        """Bytes of the tensors of `block`, cotangents too, in float64."""
        posed, axes = self.posed, self.room.axes
        given = [
            (n, v.shape) for n, v in zip(posed.names, posed.inputs, strict=True) if n is not None and v is not None
        ]
        outputs = output_names(posed.op, len(posed.cotangents))
        given += [(n, g.shape) for n, g in zip(outputs, posed.cotangents, strict=True) if g is not None]
        places = [region(axes, block, n, shape) for n, shape in given]
        return 8 * sum(int(math.prod(s.stop - s.start for s in place)) for place in places)

    def expected(self, name: str, values: Array, scale: Scales, place: tuple[slice, ...]) -> Expected:
        """Values at `place` of the result `name`, held to the scale of other slices."""
        if values.dtype.kind != "f" or is_bitwise(self.posed):
            return unscaled(self.posed, values)
        faithful = is_faithful(self.posed.case, self.rules.declared, DTYPES[self.dtype_of(name)])
        return Expected(values, scale.of(values, place), faithful=faithful)


@dataclass(frozen=True)
class Slice:
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
        worst = self.judgement.worst
        if worst is None:
            return replace(self.judgement, tensors=())
        index = tuple(a + i for a, i in zip(self.at[worst.tensor], worst.index, strict=True))
        return replace(self.judgement, worst=replace(worst, index=index), tensors=())


def by_its_noise(asked: Asked, block: Block, name: str, *, suspect: bool = False) -> Slice:
    """`block` judged by noise of its own: the result `name`, and all others that are complete there.

    A `suspect` was chosen for its error, and all of a row may share one: that it is large on average says nothing of
    the whole, which the slices that are drawn tell. Its elements are judged as any are.
    """
    few = asked.room.noise[name]
    first = _by_noise(asked, block, few, name, suspect)
    if first.judgement.verdict is Verdict.PASS or few.runs == RUNS:
        return first
    return _by_noise(asked, block, replace(few, runs=RUNS), name, suspect)  # of few runs it may be too little


def _by_noise(asked: Asked, block: Block, noise: Noise, name: str, suspect: bool) -> Slice:
    complete = _complete(asked, block, name)
    needs = [n in complete for n in asked.names]
    expected = expected_in(asked.posed, asked.room, block, noise, needs, asked.rules.declared)
    return _judged(asked, block, expected, whole=not suspect)


def _complete(asked: Asked, block: Block, name: str) -> set[str]:
    """The results that are complete in `block`; those no larger than `name` alone where there is no room for all.

    A bias is complete in the block of all slices only, where the gradient of the input is as large as the input: that
    is judged on slices of its own then.
    """
    axes = asked.room.axes
    complete = {n: shape for n, shape in asked.shapes.items() if cover(axes, block, n, shape) == block}
    sizes = {n: math.prod(s.stop - s.start for s in region(axes, block, n, shape)) for n, shape in complete.items()}
    if sum(sizes.values()) * SUMMED <= asked.room.memory / 2:
        return set(complete)
    return {n for n, size in sizes.items() if n == name or size <= sizes[name]}


def by_other_scales(asked: Asked, block: Block, name: str, scale: Scales) -> Slice:
    """The result `name` of `block` judged by what other slices have: for what is wrong by far."""
    shape = asked.shapes[name]
    values = values_in(asked.posed, asked.room, block, name, shape)
    place = region(asked.room.axes, block, name, shape)
    expected = [asked.expected(name, values, scale, place) if n == name else None for n in asked.names]
    return _judged(asked, block, expected)


def _judged(asked: Asked, block: Block, expected: Sequence[Expected | None], *, whole: bool = True) -> Slice:
    axes = asked.room.axes
    places = {n: region(axes, block, n, shape) for n, shape in asked.shapes.items()}
    expected = [e if n in asked.arrays else None for n, e in zip(asked.names, expected, strict=True)]
    needs = tuple(e is not None for e in expected)
    arrays = [
        None if e is None else np.array(asked.arrays[n][places[n]]) for n, e in zip(asked.names, expected, strict=True)
    ]

    def judged(*, stored: bool) -> Judgement:
        piece = taken(asked.posed, axes, block, stored=stored)
        piece = piece.given(needs=needs) if asked.posed.mode is Mode.GRADIENT else piece
        return judge(piece, Answer(arrays), asked.rules, expected, whole=whole)

    large = asked.posed.op.kinks is None and asked.in_float64(block) > asked.room.memory / 4
    judgement = judged(stored=large)
    if large and judgement.verdict is not Verdict.PASS:  # other answers that are right are computed from the inputs
        judgement = judged(stored=False)
    found = {n: e for n, e in zip(asked.names, expected, strict=True) if e is not None}
    return Slice(judgement, found, {n: tuple(s.start for s in place) for n, place in places.items()})
