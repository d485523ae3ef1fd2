"""An answer to a case whose data repeat: one period judged as any case is, every other element held against it.

The period that is judged has its slices from repeats that are drawn, so that what is asked of whole arrays (their RMS,
how they were rounded) counts no rounding twice. Elsewhere an element is right that has the bits of the same element of
that period, or is within its bound; repeats with another element are judged like the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from opproof.cases._fills.random_bits import bits_of
from opproof.core.arrays import Array, bytes_of
from opproof.core.dtypes import DTYPES
from opproof.core.verdicts import WRONG, Mode, Verdict
from opproof.harness.judge.bound import bound_of
from opproof.harness.judge.chunk_screen import split_array
from opproof.harness.judge.gradient import Rules
from opproof.harness.judge.judgement import JudgedTensor, Judgement, compare_answer, find_missing, is_stale, judge
from opproof.harness.judge.outputs import Outputs
from opproof.harness.reference.axes import Periods, Repeat
from opproof.harness.reference.expected import expected_of
from opproof.harness.reference.question import Expected, Question, name_outputs

#: Of each axis that repeats, from which repeat each slice of a period is taken.
Picks = tuple[NDArray[np.intp], ...]


@dataclass(frozen=True)
class ResultGroup:
    """Results that are sums over the same axes: their question of one period, and which they are."""

    question: Question
    members: tuple[int, ...]
    periods: Periods
    shapes: Mapping[int, tuple[int, ...]]
    names: tuple[str, ...]
    signed: bool  # each repeat of a result has its sign

    def choose(self, posed: Question) -> Picks:
        """Repeats drawn from the case's id, whole ones wherever slices belong together."""
        return tuple(
            self._complete(r, (bits_of(f"{posed.case}|repeats {k}")(r.period // r.joined) % np.uint64(r.count)))
            for k, r in enumerate(self.periods.repeats)
        )

    @staticmethod
    def _complete(r: Repeat, drawn: NDArray[np.uint64]) -> NDArray[np.intp]:
        """The repeat of each slice, the one before the last where the last lacks it."""
        repeats = np.repeat(drawn.astype(np.intp), r.joined)
        return repeats - (np.arange(r.period) + repeats * r.period >= r.axis.extent)

    def change(self, picks: Picks, layer: Sequence[int]) -> Picks:
        """Picks of one repeat, and those given where it lacks slices."""
        changed = []
        for r, own, number in zip(self.periods.repeats, picks, layer, strict=True):
            there = np.arange(r.period) + number * r.period < r.axis.extent
            changed.append(np.where(there, number, own))
        return tuple(changed)

    def take(self, got: Array, i: int, picks: Picks) -> Array:
        """One period of a result, with the signs of what it was computed of taken off."""
        for r, at, length, own in self._iter_axes(i, picks):
            index = np.arange(length) + own * length
            got = np.take(got, index, axis=at)
            if self.signed:
                sign = r.signs[own].reshape(-1, *(1,) * (got.ndim - at - 1))
                got = np.where(sign < 0, np.negative(got), got)
        return got

    def place(self, index: Sequence[int], i: int, picks: Picks) -> tuple[tuple[int, ...], int]:
        """Where an element of one period stands in the whole, and its sign there."""
        placed, sign = list(index), 1
        for r, at, length, own in self._iter_axes(i, picks):
            repeat = int(own[index[at]])
            placed[at] = index[at] + repeat * length
            sign *= int(r.signs[repeat]) if self.signed else 1
        return tuple(placed), sign

    def _iter_axes(self, i: int, picks: Picks) -> Iterator[tuple[Repeat, int, int, NDArray[np.intp]]]:
        """Each axis of a result that repeats, with the repeats of the result's own slices there."""
        for k, r, at, length in self.periods.iter_axes(self.names[i], self.shapes[i]):
            yield r, at, length, picks[k][:: r.period // length]


def judge_repeated(posed: Question, answer: Outputs, rules: Rules, *, held: bool) -> Judgement:
    """Judge an answer of the right number, shapes and dtypes; `held`: there is room for what explains a wrong one."""
    groups = group_results(posed, answer)
    passed: list[Judgement] = []
    for group in groups:
        judgement, wrong = _judge_group(group, posed, answer, rules)
        if wrong:
            return _explain(posed, answer, rules, groups, judgement) if held else _without_arrays(judgement, answer)
        passed.append(judgement)
    left_out = find_missing(posed, answer)
    return replace(_join(passed), left_out=left_out) if left_out else _join(passed)


def group_results(posed: Question, answer: Outputs) -> list[ResultGroup]:
    """The results in groups: outputs are one, gradients are summed over the axes along which their tensors are one."""
    periods, period = posed.periods, posed.period
    assert periods is not None
    assert period is not None
    forward = posed.mode is Mode.FORWARD
    names = tuple(name_outputs(posed.op, len(answer.arrays)) if forward else map(str, posed.names))
    shapes = {i: a.shape for i, a in enumerate(answer.arrays) if a is not None}
    if forward:
        return [ResultGroup(period, tuple(shapes), periods, shapes, names, signed=False)]
    return posed.once("groups", lambda: _group_gradients(periods, period, shapes, names))


def _group_gradients(
    periods: Periods, period: Question, shapes: Mapping[int, tuple[int, ...]], names: tuple[str, ...]
) -> list[ResultGroup]:
    found: dict[tuple[bool, ...], list[int]] = {}
    for i, shape in shapes.items():
        found.setdefault(tuple(r.is_shared(names[i], shape) for r in periods.repeats), []).append(i)
    groups = []
    for shared, members in found.items():
        axes = [r for r, is_shared in zip(periods.repeats, shared, strict=True) if is_shared]
        of = zip(name_outputs(period.op, len(period.cotangents)), period.cotangents, strict=True)
        cotangents = tuple(None if g is None else periods.weigh(g, name, axes) for name, g in of)
        needs = tuple(i in members for i in range(len(names)))
        groups.append(
            ResultGroup(period.weighted(cotangents, needs), tuple(members), periods, shapes, names, signed=True)
        )
    return groups


def _judge_group(group: ResultGroup, posed: Question, answer: Outputs, rules: Rules) -> tuple[Judgement, bool]:
    """The judgement of the first period that is wrong, its worst element where it stands; else that of the drawn one.

    And whether it is wrong.
    """
    picks = group.choose(posed)

    def outputs(picks: Picks) -> Outputs:
        given = enumerate(answer.arrays)
        return Outputs([group.take(a, i, picks) if a is not None and i in group.members else None for i, a in given])

    drawn = outputs(picks)
    first = judge(group.question, drawn, rules)
    if first.verdict in WRONG:
        return _move(group, first, picks), True
    seen = {_key_of(drawn)}
    for layer in _find_other_layers(group, answer, drawn, rules):
        changed = group.change(picks, layer)
        other = outputs(changed)
        key = _key_of(other)
        if key in seen:
            continue
        seen.add(key)
        judgement = judge(group.question, other, rules, whole=False)
        if judgement.verdict in WRONG:
            return _move(group, judgement, changed), True
    return _move(group, first, picks), False


def _key_of(outputs: Outputs) -> bytes:
    key = blake2b(digest_size=16)
    for array in outputs.arrays:
        if array is not None:
            key.update(bytes_of(array).data)
    return key.digest()


def _find_other_layers(group: ResultGroup, answer: Outputs, drawn: Outputs, rules: Rules) -> list[tuple[int, ...]]:
    """The repeats with an element that has neither the bits of the drawn period nor is within its bound."""
    found: set[tuple[int, ...]] = set()
    expected = expected_of(group.question, rules.declared)
    for i in group.members:
        got, one, want = answer.arrays[i], drawn.arrays[i], expected[i]
        if got is None or one is None or want is None or got.shape == one.shape:
            continue
        found.update(_find_layers(group, i, got, one, want, rules))
    return sorted(found)


def _find_layers(
    group: ResultGroup, i: int, got: Array, one: Array, want: Expected, rules: Rules
) -> Iterator[tuple[int, ...]]:
    along = [*group.periods.iter_axes(group.names[i], group.shapes[i])]
    dtype = group.question.dtype_of(i)
    of_period = _Bound(want, one, dtype, rules)
    for piece in split_array(got.shape):
        here = got[piece]
        where, sign = [np.arange(s.start, s.stop) for s in piece], np.ones((), dtype=np.int8)
        inside = [*where]
        for _, r, at, length in along:
            inside[at] = where[at] % length
            if group.signed:
                sign = sign * r.signs[where[at] // length].reshape(-1, *(1,) * (got.ndim - at - 1))
        other = of_period.find_other(here, inside, sign)
        if not other.any():
            continue
        at_fault = np.nonzero(other)
        layers = np.zeros((len(group.periods.repeats), at_fault[0].size), dtype=np.intp)
        for k, _, at, length in along:
            layers[k] = where[at][at_fault[at]] // length
        yield from (tuple(map(int, row)) for row in np.unique(layers, axis=1).T)


class _Bound:
    """What the elements of one period may be: what they are where it was judged, or within their bounds."""

    def __init__(self, want: Expected, one: Array, dtype: str, rules: Rules) -> None:
        self._words = np.dtype(f"u{one.dtype.itemsize}")
        self._one = np.ascontiguousarray(one)
        self._minus = np.negative(self._one) if one.dtype.kind not in "iub" else self._one
        self._values = want.values
        self._bound: Array | None = None
        if want.values.dtype.kind == "f" and not DTYPES[dtype].whole:
            held = want if rules.rounding is None else replace(want, held=False)
            with np.errstate(all="ignore"):
                self._bound = bound_of(held, DTYPES[dtype], strict_subnormals=rules.strict_subnormals)

    def find_other(self, got: Array, inside: Sequence[NDArray[np.intp]], sign: NDArray[np.int8]) -> NDArray[np.bool_]:
        """Which elements of a piece are neither; `inside`: where its rows, columns and so on are in the period."""
        grid = np.ix_(*inside)
        same = self._one[grid]
        if (sign < 0).any():
            same = np.where(sign < 0, self._minus[grid], same)
        other: NDArray[np.bool_] = np.ascontiguousarray(got).view(self._words) != same.view(self._words)
        if other.any():
            at = np.nonzero(other)
            of_period = tuple(index[a] for index, a in zip(inside, at, strict=True))
            other[at] = ~self._is_within(got[at], of_period, np.broadcast_to(sign, other.shape)[at])
        return other

    def _is_within(self, got: Array, at: tuple[NDArray[np.intp], ...], sign: NDArray[np.int8]) -> NDArray[np.bool_]:
        values = self._values[at]
        if self._bound is None:
            return np.asarray(got == values)
        with np.errstate(all="ignore"):
            bound = self._bound[at]
            error = np.abs(np.asarray(got, dtype=np.float64) - values * sign)
            return np.asarray((error <= bound) & np.isfinite(bound))


def _move(group: ResultGroup, judgement: Judgement, picks: Picks) -> Judgement:
    """The judgement with its worst element where it stands in the whole."""

    def place(tensor: str, index: tuple[int, ...]) -> tuple[int, ...]:
        return group.place(index, group.names.index(tensor), picks)[0]

    moved, worst = judgement.with_places(place), judgement.worst
    if worst is None or moved.worst is None:
        return moved
    _, sign = group.place(worst.index, group.names.index(worst.tensor), picks)

    def signed(number: float | str) -> float | str:
        if sign > 0 or number == "nan":
            return number
        return -number if isinstance(number, float) else number.removeprefix("-") if number[0] == "-" else f"-{number}"

    return replace(moved, worst=replace(moved.worst, got=signed(worst.got), expected=signed(worst.expected)))


def _join(passed: Sequence[Judgement]) -> Judgement:
    """One judgement of those of groups: a trivial answer has to pass in all of them."""

    def share(j: Judgement) -> float:
        return (j.units or 0.0) / j.limit if j.limit else 0.0

    open_ = [j for j in passed if j.verdict is not Verdict.PASS]
    alike = len({j.message for j in open_}) == 1
    doubtful = next((j for j in open_ if j.verdict is not Verdict.VACUOUS), None)
    if doubtful is not None or (len(open_) == len(passed) and alike):
        return doubtful or open_[0]
    best = max(passed, key=share)
    message = next((j.message for j in passed if j.verdict is Verdict.PASS and j.message), "")
    return replace(best.with_largest(passed), verdict=Verdict.PASS, message=message)


def _without_arrays(judgement: Judgement, answer: Outputs) -> Judgement:
    how = "judged by one period of data that repeat"
    said = "; ".join(filter(None, (judgement.message, how)))
    return replace(judgement, message=said, tensors=(), stale=is_stale(answer))


def _explain(
    posed: Question, answer: Outputs, rules: Rules, groups: Sequence[ResultGroup], wrong: Judgement
) -> Judgement:
    """The judgement of a wrong answer with all of its elements beside what is expected of them."""
    expected: list[Expected | None] = [None for _ in answer.arrays]
    for group in groups:
        of_period = expected_of(group.question, rules.declared)
        for i in group.members:
            want = of_period[i]
            expected[i] = None if want is None else repeat_expected(group, i, want)
    quick = replace(rules, declared=None)  # what noise of a declared size excuses takes 64 evaluations of the whole
    try:
        whole = judge(posed, answer, quick, expected, whole=False)
        if whole.verdict in WRONG:
            return whole
        compared = compare_answer(posed, answer, quick, expected)
    except MemoryError:
        return _without_arrays(wrong, answer)
    figures = {j.name: j.figures for j in wrong.tensors}
    names = groups[0].names
    tensors = tuple(
        JudgedTensor(n, a, e, c, figures.get(n, wrong.figures))
        for n, a, e, c in zip(names, compared.arrays, compared.expected, compared.comparisons, strict=True)
        if a is not None and e is not None and c is not None
    )
    return replace(wrong, tensors=tensors, stale=is_stale(answer))


def repeat_expected(group: ResultGroup, i: int, want: Expected) -> Expected:
    name, shape = group.names[i], group.shapes[i]
    signed = group.signed and want.values.dtype.kind == "f"
    values = group.periods.tile(want.values, name, shape, signed=signed)
    return replace(want, values=values, scale=group.periods.tile(want.scale, name, shape))
