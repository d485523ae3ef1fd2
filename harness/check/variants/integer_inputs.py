"""Whole numbers that say which, as of experts, segments and rows: one that none has, all alike, a piece of nothing.

Few draws have a group without a member, or one with all of them; what runs over groups errs there first. Only where one
tensor alone holds whole numbers: of two, as of indices and their counts, one may be made of the other. And some are
what a reference names as what is left out, -100, where no draw has it.

Whole numbers, as lengths and positions, that are a whole number of blocks: 64, 128, 256 and so on in place of one.

Who runs over blocks errs where the last of them is full, or empty. One of 320 lengths is 256, and few draws have it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from opproof.core.arrays import Array
from opproof.harness.check.tensors import CONTIGUOUS, Tensor
from opproof.harness.check.variants.properties import are_pieces, ordered, whole
from opproof.harness.check.variants.variant import Pair, Variant, of_both

#: So many different numbers there are at least: the least and the largest stay, as many a reference counts by them.
_DIFFERENT = 3
#: What is left out is a whole number like these: -1 is an axis, and less than these masks scores.
_LEFT_OUT = range(-256, -9)
#: Of so many numbers one is made what is left out.
_EACH = 3
#: Draws of so many times as many numbers as there are do not miss one by chance; so many that they miss are tried.
_BY_CHANCE, _MISSED = 3, 2
#: A piece is made to begin where a tile of so many does.
_TILES = (64, 16)
#: Words of so many bits hold several numbers each, where draws have some as large as this.
_BITS, _LARGE = 32, 2**24
#: Other numbers in place of some; None where there are none.
_Change = Callable[[Array], Array | None]


def absent(
    pairs: Sequence[Pair], named: frozenset[float] = frozenset(), marks: frozenset[int] = frozenset(),
    only: _Change | None = None,
) -> Iterator[Variant]:  # fmt: skip
    """Variants of the first pair of draws; `named`: the numbers that the reference names; `marks`: it asks for them.

    `only`: the one change that is tried.
    """
    given, _ = pairs[0]
    places, draws = whole(given), [draw for pair in pairs for draw in pair]
    for at in places:
        if are_pieces(draws, at):  # `nothing.py` asks of these: others would not add up
            continue
        longest = [max((n for i, t in enumerate(d) if i != at for n in t.shape), default=0) for d in draws]
        drawn = [d[at].values for d in draws]
        divides = all(_divides(v, most) for v, most in zip(drawn, longest, strict=True))
        others = [given[i].values for i in places if i != at]
        counts = _counts(drawn, {n for d in draws for i, t in enumerate(d) if i != at for n in t.shape})
        changes = _changes(drawn, others, named - {0} if counts else named, divides=divides)
        if given[at].dtype == "int32" and all(v.size and np.abs(v).max() >= _LARGE for v in drawn):
            changes["other bits in {}"] = _other_bits
        for mark in _outside(drawn, marks):
            changes[f"{mark} in some of {{}}"] = partial(_marked, mark=mark, each=_EACH)
        for said, change in changes.items():
            if only is not None and change is not only:
                continue
            pair = max(pairs, key=partial(_end, at=at)) if change is _gathered else pairs[0]
            if (both := of_both(pair, at, partial(_changed, change=change))) is not None:
                yield Variant(said.format(given[at].name), "whole-numbers", CONTIGUOUS, *both, rare=True)


def all_alike(pairs: Sequence[Pair], size: str) -> Iterator[Variant]:
    """Those of all numbers alike, of draws at a larger size: a tile is full of one then."""
    return (replace(variant, name=f"{size}, {variant.name}") for variant in absent(pairs, only=_alike))


def _changes(
    drawn: Sequence[Array], others: Sequence[Array], named: frozenset[float], *, divides: bool
) -> dict[str, _Change]:
    """What is tried of a tensor, by its name as it is said; `others` hold whole numbers too.

    `divides`: in every draw it says where pieces of an axis begin.
    """
    counted = any(abs(v.size - drawn[0].size) <= 1 for v in others)  # as by the lengths of pieces
    if divides and not counted:
        told = any(int(np.diff(v).max()) in named for v in drawn)  # an argument says how long the longest is
        tiles = {f"a piece in {{}} that begins at {m}": partial(_begun_at, tile=m) for m in _TILES}
        return {
            "an empty piece in {}": _emptied,
            "several empty pieces in {}": _emptied_in_a_row,
            **({} if told else {"one long piece in {}": _gathered, **tiles}),
        }
    varies = any(not np.array_equal(drawn[0], v) for v in drawn)
    some: dict[str, _Change] = {}
    if varies and not others:
        some = {f"{c} among {{}}": partial(_placed, number=c) for c in _missed(drawn, named)}
    if others or not varies or not all(map(_repeats, drawn)):
        return some
    changes: dict[str, _Change] = {
        **some,
        "{} without one of its numbers": _without,
        "one of its numbers once in {}": _once,
        "{} all alike": _alike,
    }
    for mark in sorted(c for c in _LEFT_OUT if c in named)[-1:]:
        if all((v >= 0).all() for v in drawn):
            changes[f"{mark} in some of {{}}"] = partial(_marked, mark=mark, each=_EACH)
        changes[f"{mark} in all of {{}}"] = partial(_marked, mark=mark, each=1)
    return changes


def _outside(drawn: Sequence[Array], marks: frozenset[int]) -> list[int]:
    """The marks nearest to what is drawn, below all that is and above: draws are no negative numbers."""
    if not all(v.size and v.min() >= 0 for v in drawn):
        return []
    most = max(int(v.max()) for v in drawn)
    return [*sorted(c for c in marks if c < 0)[-1:], *sorted(c for c in marks if c > most)[:1]]


def _missed(drawn: Sequence[Array], named: frozenset[float]) -> list[int]:
    """Numbers that a reference names, as the word that is padding, and that few draws of many words miss by chance."""
    if any(v.size < _DIFFERENT or v.min() < 0 or ordered(v).all() for v in drawn):
        return []
    most, count = max(int(v.max()) for v in drawn), sum(v.size for v in drawn)
    if count >= _BY_CHANCE * (most + 1):
        return []
    return [int(c) for c in sorted(named) if c in range(most) and not any((v == c).any() for v in drawn)][:_MISSED]


def _counts(drawn: Sequence[Array], sizes: set[int]) -> bool:
    """Whether they are lengths, up to that of an axis, none of which is 0; of a length of 0 `nothing.py` asks."""
    return all(v.size and v.min() > 0 for v in drawn) and max(int(v.max()) for v in drawn) in sizes


def _placed(values: Array, number: int) -> Array:
    """With the number in one place, so that numbers that are there once stay so."""
    made = np.array(values)
    made.flat[values.size // 2] = number
    return made


def _changed(t: Tensor, change: _Change) -> Tensor | None:
    made = change(t.values)
    return None if made is None else t.holding(made)


def _divides(values: Array, longest: int) -> bool:
    """Whether they say where pieces of an axis begin, the `longest` there is, from 0 upwards, or where they end."""
    some = values.ndim == 1 and values.size > _DIFFERENT
    if some and values[0] > 0:  # where they end, up to its size; a piece of nothing is one too
        return bool((np.diff(values) >= 0).all() and int(values[-1]) == longest)
    return bool(some and (np.diff(values) > 0).all() and int(values[-1]) <= longest)


def _repeats(values: Array) -> bool:
    """Whether there are several numbers, and some more than once: of a permutation each one counts."""
    return _DIFFERENT <= np.unique(values[values >= 0]).size < values.size


def _emptied(values: Array) -> Array:
    made = np.array(values)
    made[made.size // 2] = made[made.size // 2 - 1]
    return made


def _emptied_in_a_row(values: Array) -> Array | None:
    """Those in the middle: who looks for the next piece by one step, or by two, finds none. None of few pieces."""
    if values.size <= 2 * _DIFFERENT:
        return None
    made = np.array(values)
    made[1:-2] = made[1]
    return made


def _gathered(values: Array) -> Array:
    """All pieces but the last of one place each: longer than any that was drawn, past the first tile."""
    begin = min(int(values[0]), 1)
    return np.asarray([*range(begin, begin + values.size - 1), values[-1]], values.dtype)


def _begun_at(values: Array, tile: int) -> Array | None:
    """With a piece from the middle begun at a whole number of tiles; None where no such place is between its ends."""
    for at in range(values.size // 2, values.size - 1):
        to = -(-(int(values[at - 1]) + 1) // tile) * tile
        if to < values[at + 1]:
            made = np.array(values)
            made[at] = to
            return made
    return None


def _other_bits(values: Array) -> Array:
    """Words of any bits: numbers that are packed into them are all that they can be."""
    made = np.random.default_rng(values.size).integers(-(2 ** (_BITS - 1)), 2 ** (_BITS - 1), values.shape)
    return made.astype(values.dtype)


def _end(pair: Pair, at: int) -> int:
    """Where the last piece of both draws ends."""
    return min(int(draw[at].values[-1]) for draw in pair)


def _once(values: Array) -> Array | None:
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


def _without(values: Array) -> Array | None:
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
    return after.reshape(values.shape) if bool((~ordered(rows) | ordered(after)).all()) else None


def _alike(values: Array) -> Array | None:
    """The largest number everywhere, or a row that has it, where rows have each of their numbers once.

    What is below 0 stays, as a mark.
    """
    rows = values.reshape(-1, values.shape[-1])
    if rows.shape[1] > 1 and all(np.unique(row).size == row.size for row in rows):
        return np.broadcast_to(rows[rows.max(1).argmax()], rows.shape).reshape(values.shape)
    return np.where(values >= 0, values.max(), values)


def _marked(values: Array, mark: int, each: int) -> Array:
    """With a number in every so many places, the last of them, that says that they are left out."""
    places = np.arange(values.size).reshape(values.shape)
    return np.where(places % each == each - 1, mark, values)


#: Usual blocks, the largest first: what is a whole number of that is one of all smaller.
_BLOCKS = (4096, 1024, 512, 256, 128, 64)
#: So many of them are tried.
_TRIED = 2
#: Axes of a table, as of the pages of each sequence.
_TABLE = 2


def rounded(pairs: Sequence[Pair]) -> Iterator[Variant]:
    """Variants of the first pair of draws, each with the number that is nearest to a block made that block."""
    given, _ = pairs[0]
    places = whole(given)
    for at in places:
        drawn = [draw[at].values for pair in pairs for draw in pair]
        if not _is_free(drawn, [given[i].values for i in places if i != at]):
            continue
        seen = {int(n) for v in drawn for n in np.unique(v)}
        for block in [b for b in _BLOCKS if b <= max(seen) and b not in seen][:_TRIED]:
            if (both := of_both(pairs[0], at, partial(_with, block=block))) is not None:
                name = f"{block} among {given[at].name}"
                yield Variant(name, "whole-numbers", CONTIGUOUS, *both, rare=True)


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
    if drawn[0].size > 1 and all(np.unique(v).size == v.size for v in drawn) and any(_is_permutation(v) for v in drawn):
        return False
    return all(drawn[0].ndim == 1 and v.ndim >= _TABLE and len(v) == drawn[0].size and v.min() >= 0 for v in others)


def _is_permutation(values: Array) -> bool:
    return bool(np.array_equal(np.sort(values, axis=None), np.arange(values.size)))


def _with(t: Tensor, block: int) -> Tensor:
    made = np.array(t.values)
    made.flat[int(np.abs(t.values - block).argmin())] = block
    return t.holding(made)
