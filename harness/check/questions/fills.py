"""Other values of what is given: small and large ones, of both signs, equal ones, zeros."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from opproof.harness.check.questions.properties.held import varies
from opproof.harness.check.questions.structure import ordered, twice
from opproof.harness.check.tensors import PARTS, Tensor
from opproof.vocabulary.arrays import Array
from opproof.vocabulary.dtypes import DTYPES

TIES = "ties"
NEGATIVE = "negative values"
ZEROS = ("zeros in places", "slices of zeros")
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
#: A factor at which what is added so that nothing is divided by 0 decides: 1e-6 is usual.
TINY = 2.0**-20
#: Up to this one a number of the reference's is such a floor; beside a factor so near it has none of its own.
_FLOOR, _NEAR = 2.0**-9, 8.0
#: Values are so many times the least normal number at least: below it they lose their digits.
_ROOM = 2.0**8
#: Rows that are in order are so many at least: two may be so by chance.
_TELLING = 3
#: Numbers in a row that has room for its largest and its smallest twice.
_ROW = 4
#: Of so many elements one is made 0.
_EACH = 5


@dataclass(frozen=True)
class Fill:
    """Other values of all tensors; `label`: what a case's id calls them."""

    name: str
    label: str
    change: Callable[[Sequence[Tensor]], Sequence[Array]]
    rare: bool = False  # of values that few draws have: where they tell nothing, nothing is said of them


def fills(asked: Sequence[Tensor]) -> Iterator[Fill]:
    """What anything is tried with."""
    for label, (factor, offset) in FILLS.items():
        yield Fill(f"{label} values", label, partial(_filled, factor=factor, offset=offset))
    floats = sum(map(varies, asked))
    for i, (name, label) in enumerate(SOME.items() if floats > 1 else ()):
        yield Fill(name, label, partial(_partly_small, first=i))
    yield Fill("values of both signs", "signs", _signed)
    yield Fill(TIES, "ties", _tied)


def rare(asked: Sequence[Tensor], floors: frozenset[float]) -> Iterator[Fill]:
    """Zeros, and values so small that what is added so that nothing is divided by 0 decides, `floors` among it."""
    some = [t for t in asked if varies(t)]
    if any(map(_spans_zero, some)):
        for name, of in zip(ZEROS, (_in_places, _in_slices), strict=True):
            yield Fill(name, "zeros", partial(_zeroed, of=of), rare=True)
    least = max((DTYPES[t.kind].tiny for t in some), default=1.0) * _ROOM
    for factor in _small(floors):
        if factor >= least:
            name = "tiny values" if factor == TINY else f"values times {factor:.2g}"
            yield Fill(name, "tiny", partial(_filled, factor=factor, offset=0.0), rare=True)


def _small(floors: frozenset[float]) -> list[float]:
    """Factors at which floors decide; a floor is added to squares too."""
    found = [FILLS["small"][0], TINY]
    for c in sorted(c for c in floors if 0 < c <= _FLOOR):
        found += [f for f in (c, c**0.5) if f <= _FLOOR and all(max(f / g, g / f) > _NEAR for g in found)]
    return found[1:]


def _spans_zero(t: Tensor) -> bool:
    """Whether 0 lies among its values: of scales and variances, which are all positive, it is none."""
    return bool(t.values.size) and bool(t.values.min() <= 0 <= t.values.max())


def _zeroed(tensors: Sequence[Tensor], of: Callable[[Tensor], Array]) -> list[Array]:
    """The values with some 0, as `of` makes them, where 0 is among what they are."""
    return [of(t) if varies(t) and _spans_zero(t) and not twice(t) else t.values for t in tensors]


def _in_places(t: Tensor) -> Array:
    places = np.arange(t.values.size).reshape(t.values.shape)
    return np.where(places % _EACH == 2, 0.0, t.values)


def _in_slices(t: Tensor) -> Array:
    """One slice along each axis 0, of axes with three at least."""
    made = np.array(t.values)
    for axis, n in enumerate(t.shape):
        if n >= _TELLING:
            np.moveaxis(made, axis, 0)[n // 2] = 0.0
    return made


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
