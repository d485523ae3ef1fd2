"""Nothing where draws always have something: a row that a mask hides in full, a length of 0, zeros of positive numbers.

What comes of nothing is a convention where the reference has no formula for it; that no number comes where the
reference has one is none. A group without a member beside others, whose members are all there, is no convention.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from opproof.core.arrays import Array
from opproof.harness.check.tensors import CONTIGUOUS, PARTS, CallTensor
from opproof.harness.check.variants.fills import ZEROED, put_zeros_in_places
from opproof.harness.check.variants.properties import (
    Property,
    are_pieces,
    find_ordered_rows,
    find_unmarked_value,
    restore_properties,
    varies,
)
from opproof.harness.check.variants.variant import Excused, Pair, Variant, of_both

#: Numbers of all draws together that are no chance: so many lengths without a 0, so many values without a sign.
_MIN_LENGTHS_DRAWN = 8
_MIN_POSITIVES_DRAWN = 16
#: Lengths that one is among; axes of a matrix.
_MIN_LENGTHS = _MATRIX_AXES = 2
#: Places of a row, of which half are hidden, at least.
_MIN_HALVED_PLACES = 4
#: Of numbers that are as often near 0 as elsewhere the least is so many times the largest, by how many they are.
_MAX_LEAST_RATIO = 8.0
#: Of columns that are never hidden it is no chance where its logarithm is less than minus this: one in a thousand.
_MIN_SPARED_LOG_ODDS = 7.0


@dataclass(frozen=True)
class _Change:
    """Other values of one tensor; `fill`: what a case's id calls them."""

    name: str
    fill: str
    of: Callable[[Array], Array]
    excused: Excused = Excused.NUMBERS


def generate_empty_groups(pairs: Sequence[Pair], kept: Sequence[Sequence[Property]]) -> Iterator[Variant]:
    """Variants of the first pair of draws; `kept`: what each tensor is in every draw, and stays."""
    given, _ = pairs[0]
    drawn = [draw for pair in pairs for draw in pair]
    for at, (t, has) in enumerate(zip(given, kept, strict=True)):
        draws = [draw[at] for draw in drawn]
        if t.param or all(np.array_equal(t.values, d.values) for d in draws):
            continue  # a table that is the same in every draw is not for its values to be others
        for change in _generate_changes(t, draws, given, pieces=are_pieces(drawn, at)):
            if (both := of_both(pairs[0], at, partial(_change_tensor, change=change, has=has))) is not None:
                yield Variant(change.name, change.fill, CONTIGUOUS, *both, rare=True, excused=change.excused)


def _change_tensor(t: CallTensor, change: _Change, has: Sequence[Property]) -> CallTensor | None:
    values = change.of(t.values)
    return restore_properties(has, t, values) if varies(t) else t.holding(values)


def _generate_changes(
    t: CallTensor, draws: Sequence[CallTensor], given: Sequence[CallTensor], *, pieces: bool
) -> Iterator[_Change]:
    """What is tried of one tensor; `pieces`: its numbers add up to a size in every draw."""
    if (t.dtype == "bool" or t.marks) and not all(find_unmarked_value(d) is not None for d in draws):
        for value in np.unique(t.values) if t.values.ndim else ():
            excused = _find_excuse([d.values == value for d in draws])
            if not any((d.values == value).all(-1).any() for d in draws):
                name = f"a row of {t.name} all {value:g}"
                yield _Change(name, "hidden", partial(_with_row_of, value=value), excused)
            yield from _hide_half_rows(t, value, excused)
    elif t.dtype == "uint8" and all(set(np.unique(d.values)) == {0, 1} for d in draws):
        yield _Change(f"255 for 1 in {t.name}", "bytes", lambda v: v * 255)
    elif not t.kind and t.dtype != "bool":
        yield from _generate_lengths(t, draws, given, pieces=pieces)
    elif varies(t) and t.dtype not in PARTS and _is_positive(draws):
        yield _Change(f"zeros in {t.name}", ZEROED, put_zeros_in_places)


def _hide_half_rows(t: CallTensor, value: float, excused: Excused) -> Iterator[_Change]:
    """The first half of every second row of one value, or the last: a tile that is hidden, in a row that is not."""
    if t.shape[-1] < _MIN_HALVED_PLACES:
        return
    kept = excused if excused is Excused.ALL else Excused.NOTHING
    for half, word in enumerate(("first", "last")):
        name = f"the {word} half of rows of {t.name} all {value:g}"
        yield _Change(name, f"hidden-{word}", partial(_with_half_of, value=value, half=half), kept)


def _with_half_of(values: Array, value: float, half: int) -> Array:
    """With half of every second row of one value, and one place at the other end that is not; as it is if all are."""
    rows = np.array(values).reshape(-1, values.shape[-1])
    others = np.unique(values[values != value])
    if not others.size:
        return values
    middle, other = rows.shape[-1] // 2, others[0]
    some = rows[1::2] if len(rows) > 1 else rows
    some[:, slice(middle, None) if half else slice(None, middle)] = value
    some[:, 0 if half else -1] = other
    return rows.reshape(values.shape)


def _find_excuse(hidden: Sequence[Array]) -> Excused:
    """ALL where a place of every row is never hidden in any draw: one of a column, or that of the diagonal."""
    rows = [h.reshape(-1, h.shape[-1]) for h in hidden]
    alike = len({r.shape[-1] for r in rows}) == 1  # draws may have rows of several lengths
    column = alike and any(len(r) > 1 for r in rows) and _is_spared(rows)
    square = all(h.ndim >= _MATRIX_AXES and h.shape[-1] == h.shape[-2] for h in hidden)
    diagonal = square and not any(np.diagonal(h, axis1=-2, axis2=-1).any() for h in hidden)
    return Excused.ALL if column or diagonal else Excused.NUMBERS


def _is_spared(rows: Sequence[Array]) -> bool:
    """Whether columns are never hidden, and more of them than chance leaves; of padding, which has an end, any."""
    count = sum(map(len, rows))
    never = np.logical_and.reduce([~r.any(0) for r in rows])
    if not never.any() or all(find_ordered_rows(r).all() for r in rows):
        return bool(never.any())
    rate = sum(int(r.sum()) for r in rows) / (count * never.size)
    expected, found = never.size * (1 - rate) ** count, int(never.sum())
    # Chernoff's bound of the chance that so many columns, each hidden or not by itself, are spared (Hoeffding 1963).
    return bool(found > expected and found * (1 + math.log(expected / found)) - expected < -_MIN_SPARED_LOG_ODDS)


def _with_row_of(values: Array, value: float) -> Array:
    """With a row along the last axis of one value, in the middle."""
    rows = np.array(values).reshape(-1, values.shape[-1])
    rows[len(rows) // 2] = value
    return rows.reshape(values.shape)


def _generate_lengths(
    t: CallTensor, draws: Sequence[CallTensor], given: Sequence[CallTensor], *, pieces: bool
) -> Iterator[_Change]:
    """A length of 0; where all draws have one sum, as of members of groups, or are pieces of an axis, the next has its
    members.
    """
    drawn = [d.values for d in draws]
    if t.values.ndim != 1 or any(v.size < _MIN_LENGTHS or v.min() < 1 for v in drawn):
        return
    sizes, whole = {n for g in given for n in g.shape}, {int(v.sum()) for v in drawn}
    if sum(v.size for v in drawn) < _MIN_LENGTHS_DRAWN or max(int(v.max()) for v in drawn) > max(sizes):
        return
    if len(whole) > 1 and not pieces:
        yield _Change(f"0 in {t.name}", "whole-numbers", _reduce_least, Excused.ALL)
    elif pieces or (whole <= sizes and all(g.kind or g is t for g in given)):
        yield _Change(f"0 in {t.name}", "whole-numbers", _move_to_next, Excused.NOTHING)


def _reduce_least(values: Array) -> Array:
    """The least of all but the last, for what runs over all errs after it."""
    made = np.array(values)
    made[int(values[:-1].argmin())] = 0
    return made


def _move_to_next(values: Array) -> Array:
    at, made = int(values[:-1].argmin()), _reduce_least(values)
    made[at + 1] += values[at]
    return made


def _is_positive(draws: Sequence[CallTensor]) -> bool:
    """Whether no number of any draw is 0 or less, which is no chance; but they come near it, so that 0 is one too."""
    unlike = {float(x) for d in draws for x in d.values.ravel()[:_MIN_POSITIVES_DRAWN]}
    if len(unlike) < _MIN_POSITIVES_DRAWN or not all(d.values.size and d.values.min() > 0 for d in draws):
        return False
    least, largest = min(float(d.values.min()) for d in draws), max(float(d.values.max()) for d in draws)
    return least * sum(d.values.size for d in draws) <= _MAX_LEAST_RATIO * largest
