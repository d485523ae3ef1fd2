"""Integers that say which, as of experts and rows: one that none has, all alike, a piece of nothing, a block.

What runs over groups or blocks errs there first, and few draws have it. Only where one tensor alone holds whole
numbers: of two, as of indices and their counts, one may be made of the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from opproof.core.arrays import Array
from opproof.harness.check.tensors import CONTIGUOUS, CallTensor
from opproof.harness.check.variants.properties import are_pieces, find_ordered_rows, find_whole_numbers
from opproof.harness.check.variants.variant import Pair, Variant, of_both

#: So many different numbers there are at least: the least and the largest stay, as many a reference counts by them.
_MIN_DIFFERENT_LABELS = 3
#: What is left out is a whole number like these: -1 is an axis, and less than these masks scores.
_LEFT_OUT = range(-256, -9)
#: Of so many numbers one is made what is left out.
_ELEMENTS_PER_MARK = 3
#: Draws of so many times as many numbers as there are do not miss one by chance; so many that they miss are tried.
_MIN_DRAWS_PER_LABEL = 3
_MAX_MISSED_LABELS = 2
#: A piece is made to begin where a tile of so many does.
_TILE_STARTS = (64, 16)
#: Words of so many bits hold several numbers each, where draws have some as large as this.
_PACKED_WORD_BITS = 32
_MIN_PACKED_WORD = 2**24
#: Other numbers in place of some; None where there are none.
_Change = Callable[[Array], Array | None]


def generate_missing_labels(
    pairs: Sequence[Pair], named: frozenset[float] = frozenset(), marks: frozenset[int] = frozenset(),
    only: _Change | None = None,
) -> Iterator[Variant]:  # fmt: skip
    """Variants of the first pair of draws; `named`: the numbers that the reference names; `marks`: it asks for them.

    `only`: the one change that is tried.
    """
    given, _ = pairs[0]
    places, draws = find_whole_numbers(given), [draw for pair in pairs for draw in pair]
    for at in places:
        if are_pieces(draws, at):  # `empty_groups.py` asks of these: others would not add up
            continue
        longest = [max((n for i, t in enumerate(d) if i != at for n in t.shape), default=0) for d in draws]
        drawn = [d[at].values for d in draws]
        divides = all(_divides(v, most) for v, most in zip(drawn, longest, strict=True))
        others = [given[i].values for i in places if i != at]
        counts = _counts(drawn, {n for d in draws for i, t in enumerate(d) if i != at for n in t.shape})
        changes = _list_changes(drawn, others, named - {0} if counts else named, divides=divides)
        if given[at].dtype == "int32" and all(v.size and np.abs(v).max() >= _MIN_PACKED_WORD for v in drawn):
            changes["other bits in {}"] = _draw_bits
        for mark in _find_outside_marks(drawn, marks):
            changes[f"{mark} in some of {{}}"] = partial(_mark_numbers, mark=mark, each=_ELEMENTS_PER_MARK)
        for said, change in changes.items():
            if only is not None and change is not only:
                continue
            pair = max(pairs, key=partial(_end, at=at)) if change is _gather_in_last else pairs[0]
            if (both := of_both(pair, at, partial(_change_tensor, change=change))) is not None:
                yield Variant(said.format(given[at].name), "whole-numbers", CONTIGUOUS, *both, rare=True)


def generate_all_alike(pairs: Sequence[Pair], size: str) -> Iterator[Variant]:
    """Those of all numbers alike, of draws at a larger size: a tile is full of one then."""
    return (
        replace(variant, name=f"{size}, {variant.name}") for variant in generate_missing_labels(pairs, only=_make_alike)
    )


def _list_changes(
    drawn: Sequence[Array], others: Sequence[Array], named: frozenset[float], *, divides: bool
) -> dict[str, _Change]:
    """What is tried of a tensor, by its name as it is said; `others` hold integers too.

    `divides`: in every draw it says where pieces of an axis begin.
    """
    counted = any(abs(v.size - drawn[0].size) <= 1 for v in others)  # as by the lengths of pieces
    if divides and not counted:
        told = any(int(np.diff(v).max()) in named for v in drawn)  # an argument says how long the longest is
        tiles = {f"a piece in {{}} that begins at {m}": partial(_start_piece_at, tile=m) for m in _TILE_STARTS}
        return {
            "an empty piece in {}": _remove_piece,
            "several empty pieces in {}": _remove_pieces_in_a_row,
            **({} if told else {"one long piece in {}": _gather_in_last, **tiles}),
        }
    varies = any(not np.array_equal(drawn[0], v) for v in drawn)
    some: dict[str, _Change] = {}
    if varies and not others:
        some = {f"{c} among {{}}": partial(_place_number, number=c) for c in _find_missed_labels(drawn, named)}
    if others or not varies or not all(map(_repeats, drawn)):
        return some
    changes: dict[str, _Change] = {
        **some,
        "{} without one of its numbers": _remove_number,
        "one of its numbers once in {}": _keep_once,
        "{} all alike": _make_alike,
    }
    for mark in sorted(c for c in _LEFT_OUT if c in named)[-1:]:
        if all((v >= 0).all() for v in drawn):
            changes[f"{mark} in some of {{}}"] = partial(_mark_numbers, mark=mark, each=_ELEMENTS_PER_MARK)
        changes[f"{mark} in all of {{}}"] = partial(_mark_numbers, mark=mark, each=1)
    return changes


def _find_outside_marks(drawn: Sequence[Array], marks: frozenset[int]) -> list[int]:
    """The marks nearest to what is drawn, below all that is and above: draws are no negative numbers."""
    if not all(v.size and v.min() >= 0 for v in drawn):
        return []
    most = max(int(v.max()) for v in drawn)
    return [*sorted(c for c in marks if c < 0)[-1:], *sorted(c for c in marks if c > most)[:1]]


def _find_missed_labels(drawn: Sequence[Array], named: frozenset[float]) -> list[int]:
    """Numbers that a reference names, as the word that is padding, and that few draws of many words miss by chance."""
    if any(v.size < _MIN_DIFFERENT_LABELS or v.min() < 0 or find_ordered_rows(v).all() for v in drawn):
        return []
    most, count = max(int(v.max()) for v in drawn), sum(v.size for v in drawn)
    if count >= _MIN_DRAWS_PER_LABEL * (most + 1):
        return []
    return [int(c) for c in sorted(named) if c in range(most) and not any((v == c).any() for v in drawn)][
        :_MAX_MISSED_LABELS
    ]


def _counts(drawn: Sequence[Array], sizes: set[int]) -> bool:
    """Whether they are lengths, up to that of an axis, none of which is 0; of a length of 0 `empty_groups.py` asks."""
    return all(v.size and v.min() > 0 for v in drawn) and max(int(v.max()) for v in drawn) in sizes


def _place_number(values: Array, number: int) -> Array:
    """With the number in one place, so that numbers that are there once stay so."""
    made = np.array(values)
    made.flat[values.size // 2] = number
    return made


def _change_tensor(t: CallTensor, change: _Change) -> CallTensor | None:
    made = change(t.values)
    return None if made is None else t.holding(made)


def _divides(values: Array, longest: int) -> bool:
    """Whether they say where pieces of an axis begin, the `longest` there is, from 0 upwards, or where they end."""
    some = values.ndim == 1 and values.size > _MIN_DIFFERENT_LABELS
    if some and values[0] > 0:  # where they end, up to its size; a piece of nothing is one too
        return bool((np.diff(values) >= 0).all() and int(values[-1]) == longest)
    return bool(some and (np.diff(values) > 0).all() and int(values[-1]) <= longest)


def _repeats(values: Array) -> bool:
    """Whether there are several numbers, and some more than once: of a permutation each one counts."""
    return _MIN_DIFFERENT_LABELS <= np.unique(values[values >= 0]).size < values.size


def _remove_piece(values: Array) -> Array:
    made = np.array(values)
    made[made.size // 2] = made[made.size // 2 - 1]
    return made


def _remove_pieces_in_a_row(values: Array) -> Array | None:
    """Those in the middle: who looks for the next piece by one step, or by two, finds none. None of few pieces."""
    if values.size <= 2 * _MIN_DIFFERENT_LABELS:
        return None
    made = np.array(values)
    made[1:-2] = made[1]
    return made


def _gather_in_last(values: Array) -> Array:
    """All pieces but the last of one place each: longer than any that was drawn, past the first tile."""
    begin = min(int(values[0]), 1)
    return np.asarray([*range(begin, begin + values.size - 1), values[-1]], values.dtype)


def _start_piece_at(values: Array, tile: int) -> Array | None:
    """With a piece from the middle begun at a whole number of tiles; None where no such place is between its ends."""
    for at in range(values.size // 2, values.size - 1):
        to = -(-(int(values[at - 1]) + 1) // tile) * tile
        if to < values[at + 1]:
            made = np.array(values)
            made[at] = to
            return made
    return None


def _draw_bits(values: Array) -> Array:
    """Words of any bits: numbers that are packed into them are all that they can be."""
    made = np.random.default_rng(values.size).integers(
        -(2 ** (_PACKED_WORD_BITS - 1)), 2 ** (_PACKED_WORD_BITS - 1), values.shape
    )
    return made.astype(values.dtype)


def _end(pair: Pair, at: int) -> int:
    """Where the last piece of both draws ends."""
    return min(int(draw[at].values[-1]) for draw in pair)


def _keep_once(values: Array) -> Array | None:
    """With its rarest number in one place alone, the next number in its other ones: what is in order stays so.

    None where it is in one place already, or no row has a number twice.
    """
    numbers, counts = np.unique(values[values >= 0], return_counts=True)
    rows = values.reshape(-1, values.shape[-1]) if values.ndim > 1 else values.reshape(1, -1)
    if numbers.size < 2 or counts.min() == 1 or all(np.unique(row).size == row.size for row in rows):
        return None
    rarest, made = int(counts.argmin()), np.array(values)
    places = np.flatnonzero(made == numbers[rarest])
    below = rarest + 1 == numbers.size
    made.flat[places[:-1] if below else places[1:]] = numbers[rarest - 1 if below else rarest + 1]
    return made


def _remove_number(values: Array) -> Array | None:
    """Without a number from the middle: another takes its place, the next below that its row does not have."""
    some = np.unique(values[values >= 0])
    gone = some[some.size // 2]
    rows = values.reshape(-1, values.shape[-1])
    unlike = rows.shape[1] > 1 and all(np.unique(row).size == row.size for row in rows)
    others = [*some[some < gone][::-1], *some[some > gone]]

    def instead(row: Array) -> Array | None:
        if gone not in row:
            return row
        to = next((n for n in others if not unlike or n not in row), None)
        return None if to is None else np.where(row == gone, to, row)

    made = [instead(row) for row in rows]
    if any(row is None for row in made):
        return None
    after = np.array(made)
    return after.reshape(values.shape) if bool((~find_ordered_rows(rows) | find_ordered_rows(after)).all()) else None


def _make_alike(values: Array) -> Array | None:
    """The largest number everywhere, or a row that has it, where rows have each of their numbers once.

    What is below 0 stays, as a mark.
    """
    rows = values.reshape(-1, values.shape[-1])
    if rows.shape[1] > 1 and all(np.unique(row).size == row.size for row in rows):
        return np.broadcast_to(rows[rows.max(1).argmax()], rows.shape).reshape(values.shape)
    return np.where(values >= 0, values.max(), values)


def _mark_numbers(values: Array, mark: int, each: int) -> Array:
    """With a number in every so many places, the last of them, that says that they are left out."""
    places = np.arange(values.size).reshape(values.shape)
    return np.where(places % each == each - 1, mark, values)


#: Usual blocks, the largest first: what is a whole number of that is one of all smaller.
_BLOCK_LENGTHS = (4096, 1024, 512, 256, 128, 64)
#: So many of them are tried.
_MAX_BLOCKS_TRIED = 2
#: Axes of a table, as of the pages of each sequence.
_TABLE_AXES = 2


def round_to_blocks(pairs: Sequence[Pair]) -> Iterator[Variant]:
    """Variants of the first pair of draws, each with the number that is nearest to a block made that block."""
    given, _ = pairs[0]
    places = find_whole_numbers(given)
    for at in places:
        drawn = [draw[at].values for pair in pairs for draw in pair]
        if not _is_free(drawn, [given[i].values for i in places if i != at]):
            continue
        seen = {int(n) for v in drawn for n in np.unique(v)}
        for block in [b for b in _BLOCK_LENGTHS if b <= max(seen) and b not in seen][:_MAX_BLOCKS_TRIED]:
            if (both := of_both(pairs[0], at, partial(_with, block=block))) is not None:
                name = f"{block} among {given[at].name}"
                yield Variant(name, "whole-numbers", CONTIGUOUS, *both, rare=True)


def find_free_places(pairs: Sequence[Pair]) -> list[int]:
    """Positions of tensors that say which, of which each number may be any other that is drawn."""
    draws = [draw for pair in pairs for draw in pair]
    places = find_whole_numbers(pairs[0][0])
    of = {at: [draw[at].values for draw in draws] for at in places}
    return [
        at
        for at in places
        if not are_pieces(draws, at)
        and _is_free(of[at], [of[i][0] for i in places if i != at])
        and all(map(_repeats, of[at]))
    ]


def _is_free(drawn: Sequence[Array], others: Sequence[Array]) -> bool:
    """Whether one of the numbers may be another that is drawn: in no order, of no one sum, and not made of others.

    Beside lengths may be a table with a row for each, as of pages, without marks of where it ends.
    """
    if any(v.size == 0 or v.min() < 0 for v in drawn):
        return False
    steps = np.concatenate([np.diff(v, axis=-1).ravel() for v in drawn]) if drawn[0].ndim else np.zeros(0)
    if steps.size and (steps.min() >= 0 or steps.max() <= 0):
        return False
    if all(np.array_equal(drawn[0], v) for v in drawn) or len({int(v.sum()) for v in drawn}) == 1:
        return False
    permuted = any(np.array_equal(np.sort(v, axis=None), np.arange(v.size)) for v in drawn)
    if drawn[0].size > 1 and permuted and all(np.unique(v).size == v.size for v in drawn):
        return False
    return all(
        drawn[0].ndim == 1 and v.ndim >= _TABLE_AXES and len(v) == drawn[0].size and v.min() >= 0 for v in others
    )


def _with(t: CallTensor, block: int) -> CallTensor:
    made = np.array(t.values)
    made.flat[int(np.abs(t.values - block).argmin())] = block
    return t.holding(made)
