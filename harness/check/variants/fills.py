"""Other values of what is given: small and large ones, of both signs, equal ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from opproof.core.arrays import Array
from opproof.harness.check.tensors import PARTS, CallTensor
from opproof.harness.check.variants.properties import find_doubled_sizes, find_ordered_rows, varies

TIES = "ties"
NEGATIVE = "negative values"
#: What the ids of cases call the values of a fill, by which doubts know them.
TIED, ZEROED, TINY, HUGE = "ties", "zeros", "tiny", "huge"
#: Fills of which most exponentials are 0 in float64 too, and equal: who chooses by their arguments has an order.
SATURATING = ("large", HUGE)
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
#: Rows that are in order are so many at least: two may be so by chance.
MIN_ORDERED_ROWS = 3
#: Of so many numbers one is made 0.
_ELEMENTS_PER_ZERO = 5
#: Numbers in a row that has room for its largest and its smallest twice.
_MIN_ROW_LENGTH = 4


@dataclass(frozen=True)
class Fill:
    """Other values of all tensors; `label`: what a case's id calls them."""

    name: str
    label: str
    change: Callable[[Sequence[CallTensor]], Sequence[Array]]
    rare: bool = False  # of values that few draws have: where they tell nothing, nothing is said of them


def generate_fills(asked: Sequence[CallTensor]) -> Iterator[Fill]:
    """What anything is tried with."""
    for label, (factor, offset) in FILLS.items():
        yield Fill(f"{label} values", label, partial(scale_values, factor=factor, offset=offset))
    floats = sum(map(varies, asked))
    for i, (name, label) in enumerate(SOME.items() if floats > 1 else ()):
        yield Fill(name, label, partial(_reduce_every_second, first=i))
    yield Fill("values of both signs", "signs", _negate_every_third)
    yield Fill(TIES, TIED, make_ties)


def scale_values(tensors: Sequence[CallTensor], factor: float, offset: float = 0.0) -> list[Array]:
    """All values that vary, times a factor and with an offset; a lone number beside others is a count or a scale.

    What is negative stays so: an offset that is positive is taken off it, as of the logarithms of decays.
    """

    def changed(t: CallTensor) -> Array:
        return t.values * factor + (-offset if offset > 0 and t.values.size > 1 and t.values.max() < 0 else offset)

    return [changed(t) if varies(t) and not is_lone(t, tensors) else t.values for t in tensors]


def is_lone(t: CallTensor, tensors: Sequence[CallTensor]) -> bool:
    """Whether it holds one number, beside tensors of several that vary."""
    return t.values.size == 1 and any(varies(other) and other.values.size > 1 for other in tensors)


def _reduce_every_second(tensors: Sequence[CallTensor], first: int) -> list[Array]:
    small = [i for i, t in enumerate(tensors) if varies(t)][first::2]
    factor = FILLS["small"][0]
    return [t.values * factor if i in small else t.values for i, t in enumerate(tensors)]


def _negate_every_third(tensors: Sequence[CallTensor]) -> list[Array]:
    """Every third number negated, so that what was of one sign is of both; not of what is held twice."""

    def signed(t: CallTensor) -> Array:
        signs = np.where(np.arange(t.values.size) % 3 == 1, -1.0, 1.0).reshape(t.values.shape)
        return t.values * signs

    return [signed(t) if varies(t) and not find_doubled_sizes(t) else t.values for t in tensors]


def put_zeros_in_places(values: Array) -> Array:
    """The values with some of them 0."""
    places = np.arange(values.size).reshape(values.shape)
    return np.where(places % _ELEMENTS_PER_ZERO == 2, 0.0, values)


def make_ties(tensors: Sequence[CallTensor], axis: int = -1) -> list[Array]:
    """Numbers moved away from zero to the next half, or part, so that many are equal and none is zero that was not.

    The largest and the smallest of each row along an axis are made equal to another: what is chosen by size is chosen
    among them.
    """

    def changed(t: CallTensor) -> Array:
        step = _choose_step(t.values)
        parts = np.asarray(np.copysign(np.ceil(np.abs(t.values) / step) * step, t.values))
        if t.dtype in PARTS or not -len(t.shape) <= axis < len(t.shape):
            return parts
        return np.asarray(np.moveaxis(_repeat_extremes(np.moveaxis(parts, axis, -1)), -1, axis))

    return [changed(t) if varies(t) else t.values for t in tensors]


def _choose_step(values: Array) -> float:
    """A half; of numbers below 1, as shares are, a part of the largest: a power of two, of which it has 4 to 8."""
    most = float(np.max(np.abs(values), where=np.isfinite(values), initial=0.0))
    return 0.5 if most >= 1 or most == 0 else 2.0 ** (math.floor(math.log2(most)) - 2)


def _repeat_extremes(values: Array) -> Array:
    """The extremes of every row of `_MIN_ROW_LENGTH` numbers at least twice there; zeros stay, and what is in order
    stays so.
    """
    length = values.shape[-1]
    others = [axis for axis, n in enumerate(values.shape[:-1]) if n >= MIN_ORDERED_ROWS]
    if length < _MIN_ROW_LENGTH or any(find_ordered_rows(np.moveaxis(values, axis, -1)).all() for axis in others):
        return values
    made = np.array(values).reshape(-1, length)
    rows, in_order = np.arange(len(made)), find_ordered_rows(made)
    for distance in (0, -1, 1):  # the others where the first would lose a zero or the other extreme
        for sign in (1, -1):
            at = (sign * made).argmax(-1)
            extreme, other = made[rows, at], (-sign * made).max(-1) * -sign
            to = np.where(in_order, np.where(at == length - 1, at - 1, at + 1), (at + length // 2 + distance) % length)
            alone = ((made == extreme[:, None]).sum(-1) == 1) & np.isfinite(extreme) & (extreme != 0)
            some = alone & (made[rows, to] != other) & (made[rows, to] != 0)
            made[rows[some], to[some]] = extreme[some]
    return made.reshape(values.shape)
