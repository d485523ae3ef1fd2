"""What is tried beside the inputs given: other layouts, other values, other sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from opproof.harness.check.questions.properties.held import keeping, varies
from opproof.harness.check.questions.properties.kinds import Property
from opproof.harness.check.questions.structure import ordered, twice
from opproof.harness.check.tensors import PARTS, Tensor
from opproof.vocabulary.arrays import Array

#: The name of the inputs as they came.
GIVEN = "as given"
TIES = "ties"
NEGATIVE = "negative values"
LAYOUTS = ("transposed", "sliced", "offset", "broadcast")
#: How values are changed: a factor and an offset.
FILLS = {
    "small": (2.0**-9, 0.0),
    "wide": (6.0, 0.0),
    "offset": (1.0, 10.0),
    "large": (100.0, 0.0),
    "negative": (1.0, -100.0),
}
#: Every second tensor small, and then the others: among small weights small values no longer decide.
SOME = {"small values in places": "small-some", "small values elsewhere": "small-others"}
#: Ragged sizes that are tried before other values: a slow kernel uses the time up, and tiles err here first.
RAGGED_FIRST = 3
#: Rows that are in order are so many at least: two may be so by chance.
_TELLING = 3
#: Numbers in a row that has room for its largest and its smallest twice.
_ROW = 4
#: Sizes in place of n: odd, 1, none, another, aligned.
_NEW: tuple[Callable[[int], int], ...] = (
    lambda n: n + 1 if n % 2 == 0 else n + 2,
    lambda _: 1,
    lambda _: 0,
    lambda n: 3 * n // 2 + 1,
    lambda n: 16 * (-(-n // 16) + 1),
)


@dataclass(frozen=True)
class Variant:
    """One set of inputs to try, and the same of other data."""

    name: str
    fill: str
    layout: str
    asked: tuple[Tensor, ...]
    other: tuple[Tensor, ...]
    group: str = ""  # of which one is enough: the first that the reference takes
    unless: str = ""  # the group of which it is not needed either
    rest: tuple[Any, ...] | None = None  # what is given beside tensors, where it is not as given


#: Of each tensor what it has in every draw, and keeps.
Held = Sequence[Sequence[Property]]
#: The values of all tensors, changed.
_Change = Callable[[Sequence[Tensor]], Sequence[Array]]


def variants(asked: Sequence[Tensor], other: Sequence[Tensor], held: Held, resized: bool) -> Iterator[Variant]:
    """The given inputs first; then, where `resized`, a few ragged sizes, values, layouts and the other sizes."""

    def changed(name: str, fill: str, change: _Change) -> Variant:
        return Variant(name, fill, "contiguous", _kept(asked, change(asked), held), _kept(other, change(other), held))

    yield Variant(GIVEN, "normal", "contiguous", tuple(asked), tuple(other))
    ragged, rest = _sizes(asked) if resized else ([], [])
    yield from (_with(asked, other, *pair) for pair in ragged[:RAGGED_FIRST])
    for fill, (factor, offset) in FILLS.items():
        yield changed(f"{fill} values", fill, partial(_filled, factor=factor, offset=offset))
    floats = sum(map(varies, asked))
    for i, (name, fill) in enumerate(SOME.items() if floats > 1 else ()):
        yield changed(name, fill, partial(_partly_small, first=i))
    yield changed("values of both signs", "signs", _signed)
    yield changed(TIES, "ties", _tied)
    for layout in LAYOUTS:
        if layout in ("sliced", "offset") or any(len(t.shape) >= 2 and not t.param for t in asked):
            yield Variant(layout, "normal", layout, _laid(asked, layout, held), _laid(other, layout, held))
    yield from (_with(asked, other, *pair) for pair in (*ragged[RAGGED_FIRST:], *rest))


def _kept(tensors: Sequence[Tensor], values: Sequence[Array], held: Held) -> tuple[Tensor, ...]:
    """The tensors with other values, those that vary; with their own where no others have what they have."""
    pairs = zip(tensors, values, held, strict=True)
    return tuple((keeping(some, t, new) or t) if varies(t) else t for t, new, some in pairs)


def _filled(tensors: Sequence[Tensor], factor: float, offset: float) -> list[Array]:
    return [t.values * factor + offset if varies(t) else t.values for t in tensors]


def _partly_small(tensors: Sequence[Tensor], first: int) -> list[Array]:
    small = [i for i, t in enumerate(tensors) if varies(t)][first::2]
    factor = FILLS["small"][0]
    return [t.values * factor if i in small else t.values for i, t in enumerate(tensors)]


def _signed(tensors: Sequence[Tensor]) -> list[Array]:
    """Every third number negated, so that what was of one sign is of both; not of what is held twice."""

    def signed(t: Tensor) -> Array:
        signs = np.where(np.arange(t.values.size) % 3 == 1, -1.0, 1.0).reshape(t.values.shape)
        return t.values * signs

    return [signed(t) if varies(t) and not twice(t) else t.values for t in tensors]


def _tied(tensors: Sequence[Tensor]) -> list[Array]:
    """Numbers moved away from zero to the next half, so that many are equal and none is zero that was not.

    The largest and the smallest of each row are made equal to another: what is chosen by size is chosen among them.
    """

    def tied(t: Tensor) -> Array:
        halves = np.copysign(np.ceil(np.abs(t.values) * 2) / 2, t.values)
        return halves if t.dtype in PARTS or not t.shape else _twinned(halves)

    return [tied(t) if varies(t) else t.values for t in tensors]


def _twinned(values: Array) -> Array:
    """The extremes of every row of `_ROW` numbers at least twice there; zeros stay, and what is in order stays so."""
    length = values.shape[-1]
    others = [axis for axis, n in enumerate(values.shape[:-1]) if n >= _TELLING]
    if length < _ROW or any(ordered(np.moveaxis(values, axis, -1)).all() for axis in others):
        return values
    made = np.array(values).reshape(-1, length)
    rows, in_order = np.arange(len(made)), ordered(made)
    for distance in (0, -1, 1):  # the others where the first would lose a zero or the other extreme
        for sign in (1, -1):
            at = (sign * made).argmax(-1)
            extreme, other = made[rows, at], (-sign * made).max(-1) * -sign
            to = np.where(in_order, np.where(at == length - 1, at - 1, at + 1), (at + length // 2 + distance) % length)
            alone = ((made == extreme[:, None]).sum(-1) == 1) & np.isfinite(extreme) & (extreme != 0)
            some = alone & (made[rows, to] != other) & (made[rows, to] != 0)
            made[rows[some], to[some]] = extreme[some]
    return made.reshape(values.shape)


def _laid(tensors: Sequence[Tensor], layout: str, held: Held) -> tuple[Tensor, ...]:
    if layout != "broadcast":
        return tuple(t if t.param else replace(t, layout=layout) for t in tensors)
    made = []
    for t, some in zip(tensors, held, strict=True):
        values = np.broadcast_to(t.values[:1], t.values.shape) if len(t.shape) >= 2 and varies(t) else None
        one = None if values is None or not _is_kept(some, t, values) else replace(t, values=values, layout=layout)
        made.append(one or t)
    return tuple(made)


def _is_kept(some: Sequence[Property], t: Tensor, values: Array) -> bool:
    """Whether values have what the tensor has, as they are."""
    made = keeping(some, t, values)
    return made is not None and np.array_equal(made.values, values, equal_nan=True)


def _sizes(tensors: Sequence[Tensor]) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Every size among the shapes, and one to try in its place; of ragged sizes, and of others."""
    sizes = list(dict.fromkeys(n for t in tensors if not t.param for n in t.shape if n > 1))
    pairs = [[(n, new) for n in sizes if (new := new_of(n)) != n and new not in sizes] for new_of in _NEW]
    return pairs[0], [pair for some in pairs[1:] for pair in some]


def _with(asked: Sequence[Tensor], other: Sequence[Tensor], old: int, new: int) -> Variant:
    sized = _resized(asked, old, new, 0), _resized(other, old, new, 1)
    return Variant(f"{old} as {new}", "normal", "contiguous", *sized)


def _resized(tensors: Sequence[Tensor], old: int, new: int, salt: int) -> tuple[Tensor, ...]:
    rng = np.random.default_rng([old, new, salt])
    made = []
    for t in tensors:
        parts = t.values.shape[len(t.shape) :]
        shape = (*(new if n == old else n for n in t.shape), *parts)
        kept = t.param or not t.kind or shape == t.values.shape
        made.append(t if kept else t.holding(rng.standard_normal(shape)))
    return tuple(made)
