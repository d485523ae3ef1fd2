"""Other values of what is given: small and large ones, of both signs, equal ones; and those that inputs seldom have."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, product

import numpy as np
from scipy import special

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, round_to
from opproof.harness.check.tensors import PARTS, CallTensor
from opproof.harness.check.variants.properties import (
    DISTRIBUTION,
    MIN_PROPERTY_BITS,
    find_doubled_sizes,
    find_ordered_rows,
    list_properties,
    varies,
)

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


#: A factor at which what is added so that nothing is divided by 0 decides: 1e-6 is usual.
_TINY_FACTOR = 2.0**-20
#: A factor at which what a mask hides is larger than what a finite number in place of minus infinity takes away.
_HUGE_FACTOR = 1000.0
#: A factor of one number: scales that have been trained are past the limits that they start below.
_TRAINED_SCALE_FACTOR = 4.0
#: Up to this one a number of the reference's is such a floor; beside a factor so near it has none of its own.
MAX_EPSILON = 2.0**-9
_MIN_FACTOR_RATIO = 8.0
#: Values are so many times the least normal number at least: below it they lose their digits.
_MIN_NORMAL_RATIO = 2.0**8
#: So many tensors are made 0 as a whole, each alone; along so many axes there are ties apart.
_MAX_ZERO_TENSORS = 4
_MAX_TIED_AXES = 2
#: Axes of a matrix.
_MATRIX_AXES = 2
#: Dtypes of which few numbers are ones of bfloat16.
_WIDE_DTYPES = ("f32", "f64")
#: Of a byte, beside 0.
_PIXEL_STEPS = 255
#: Of so few numbers that have one sign it says little.
_MAX_UNTELLING_NUMBERS = 8


def generate_rare_fills(asked: Sequence[CallTensor], floors: frozenset[float]) -> Iterator[Fill]:
    """Zeros, and values so small that what is added so that nothing is divided by 0 decides, `floors` among it."""
    some = [t for t in asked if varies(t)]
    spanning = [i for i, t in enumerate(asked) if _has_zeros(t) and _spans_zero(t)]
    yield from _list_zero_fills(asked, spanning)
    told = [
        varies(t) and not find_doubled_sizes(t) and (_spans_zero(t) or t.values.size <= _MAX_UNTELLING_NUMBERS)
        for t in asked
    ]
    signed = [i for i, tells in enumerate(told) if tells]
    for i in signed[:_MAX_ZERO_TENSORS] if len(some) > 1 else ():
        yield _make_rare_fill(f"large {asked[i].name}", "large", partial(_change_one, which=i, of=_lift_far_above))
    for axis in range(-2, -2 - min(_MAX_TIED_AXES, max((len(t.shape) for t in some), default=1) - 1), -1):
        yield _make_rare_fill(f"{TIES} along axis {axis}", TIED, partial(make_ties, axis=axis))
    if any(map(_has_pairs, some)):
        yield _make_rare_fill("pairs that cancel", "cancelling", _change_each(_has_pairs, _cancel_pairs))
    yield _make_rare_fill("eighths", TIED, _change_each(varies, _round_to_eighths))
    if spanning:
        yield _make_rare_fill(
            "values of pixels", TIED, _change_each(lambda t: _has_zeros(t) and _spans_zero(t), _make_pixels)
        )
    if any(map(_is_scale, asked)) and spanning:
        yield _make_rare_fill("halves of the smallest scale", TIED, _make_halves)
    if any(map(_is_wide, some)):
        yield _make_rare_fill(
            "values of few digits", TIED, _change_each(_is_wide, lambda v: round_to(v, DTYPES["bf16"]))
        )
    if any(map(_is_square, some)):
        yield _make_rare_fill("diagonal matrices", "diagonal", _change_each(_is_square, _keep_diagonal))
        turned = _change_each(
            _is_square, lambda v: _keep_diagonal(v)[..., ::-1, :].copy()
        )  # not singular, the first block 0
        yield _make_rare_fill("diagonal matrices, their rows turned round", "diagonal", turned)
    for (i, j), (factor, word) in product(_find_alike_pairs(asked)[:1], ((1.0, ""), (-1.0, "minus "))):
        near = partial(_move_near_another, pair=(i, j), factor=factor)
        yield _make_rare_fill(f"{asked[j].name} near {word}{asked[i].name}", "near", near)
    if any(map(_has_rows, some)):
        yield _make_rare_fill("rows far apart", "apart", _change_each(_has_rows, _separate_rows))
    if any(map(_has_columns, some)):
        yield _make_rare_fill("the first column above all", "skewed", _change_each(_has_columns, _lift_first))
    yield _make_rare_fill(f"values times {_HUGE_FACTOR:g}", HUGE, partial(scale_values, factor=_HUGE_FACTOR))
    lone = [i for i, t in enumerate(asked) if varies(t) and is_lone(t, asked)]
    for i in lone[:_MAX_ZERO_TENSORS]:
        trained = partial(_change_one, which=i, of=lambda v: v * _TRAINED_SCALE_FACTOR)
        yield _make_rare_fill(f"{asked[i].name} times {_TRAINED_SCALE_FACTOR:g}", "one", trained)
    yield from _list_small_fills(some, floors)


def _list_zero_fills(asked: Sequence[CallTensor], spanning: Sequence[int]) -> Iterator[Fill]:
    if any(map(_has_zeros, asked)):
        yield _make_rare_fill("zeros in places", ZEROED, _change_each(_has_zeros, put_zeros_in_places))
        yield _make_rare_fill("slices of zeros", ZEROED, _put_zeros_in_slices)
    if spanning:
        negative = _change_each(_has_zeros, lambda v: -np.abs(put_zeros_in_places(v)))
        yield _make_rare_fill("zeros among negative values", ZEROED, negative)
    for i in spanning[:_MAX_ZERO_TENSORS]:
        yield _make_rare_fill(f"{asked[i].name} of zeros", ZEROED, partial(_change_one, which=i, of=np.zeros_like))


def _list_small_fills(some: Sequence[CallTensor], floors: frozenset[float]) -> Iterator[Fill]:
    least = max((DTYPES[t.kind].tiny for t in some), default=1.0) * _MIN_NORMAL_RATIO
    for factor in _find_small_factors(floors):
        if factor >= least:
            name = "tiny values" if factor == _TINY_FACTOR else f"values times {factor:.2g}"
            yield _make_rare_fill(name, TINY, partial(scale_values, factor=factor))
    positive = sum(map(_is_of_one_sign, some))
    for factor in _select_floors(floors) if 0 < positive < len(some) else ():
        if factor**2 >= least:
            name = f"values times {factor:.2g}, those of one sign times its square"
            yield _make_rare_fill(name, TINY, partial(_scale_variances, factor=factor))


#: What makes other values of all tensors.
_Change = Callable[[Sequence[CallTensor]], Sequence[Array]]


def _make_rare_fill(name: str, label: str, change: _Change) -> Fill:
    return Fill(name, label, change, rare=True)


def _change_each(is_changed: Callable[[CallTensor], bool], change: Callable[[Array], Array]) -> _Change:
    """The values of each tensor changed that is of a kind, all others as they were."""
    return lambda tensors: [change(t.values) if is_changed(t) else t.values for t in tensors]


def _has_pairs(t: CallTensor) -> bool:
    return _is_signed(t) and not find_doubled_sizes(t) and t.values.ndim > 0 and t.values.shape[-1] > 1


def _cancel_pairs(values: Array) -> Array:
    """Every second number of a row the one before with the other sign: a sum of 0 is not a row of zeros."""
    made = np.array(values)
    made[..., 1::2] = -made[..., :-1:2]
    return made


def _is_square(t: CallTensor) -> bool:
    return _is_signed(t) and not t.param and len(t.shape) >= _MATRIX_AXES and t.shape[-1] == t.shape[-2] > 1


def _is_signed(t: CallTensor) -> bool:
    return varies(t) and bool(t.kind) and t.dtype not in PARTS and _spans_zero(t)


def _is_wide(t: CallTensor) -> bool:
    return varies(t) and t.kind in _WIDE_DTYPES


def _keep_diagonal(values: Array) -> Array:
    """What is off the diagonal 0, that turned round: what is right for any matrix may divide by it, or sort nothing."""
    return np.where(np.eye(values.shape[-1], dtype=bool), values[..., ::-1, ::-1], 0.0)


def _find_alike_pairs(tensors: Sequence[CallTensor]) -> list[tuple[int, int]]:
    """Those that are of one shape and dtype, and may be near each other."""
    able = [
        i for i, t in enumerate(tensors) if _is_signed(t) and not t.param and t.values.size > _MAX_UNTELLING_NUMBERS
    ]
    return [p for p in combinations(able, 2) if len({(tensors[i].shape, tensors[i].dtype) for i in p}) == 1]


def _move_near_another(tensors: Sequence[CallTensor], pair: tuple[int, int], factor: float) -> list[Array]:
    """One tensor near another, or near its negative: from one to the other is next to nothing, or half a turn."""
    made, (first, second) = [t.values for t in tensors], pair
    if made[first].shape == made[second].shape:
        made[second] = factor * made[first] + FILLS["small"][0] * made[second]
    return made


def _has_rows(t: CallTensor) -> bool:
    several = len(t.shape) >= _MATRIX_AXES and t.values.size > t.shape[-1] > 1
    return _is_signed(t) and not find_doubled_sizes(t) and several


def _separate_rows(values: Array) -> Array:
    """Each row far from 0 by itself, on both sides of it: what is taken off several rows suits one of them."""
    places = np.arange(values.size // values.shape[-1]).reshape(values.shape[:-1])
    return np.asarray(values + FILLS["large"][0] * (places * 5 % 7 - 3)[..., None])


def _has_columns(t: CallTensor) -> bool:
    several = len(t.shape) >= _MATRIX_AXES and t.shape[-1] > MIN_ORDERED_ROWS
    return varies(t) and t.values.size > 0 and not find_doubled_sizes(t) and several


def _lift_first(values: Array) -> Array:
    """The first of every row above all others: what is shared out by the largest goes to one, past what it holds."""
    made = np.array(values)
    made[..., 0] = np.abs(made[..., 0]) + np.abs(made).max()
    return made


def _round_to_eighths(values: Array) -> Array:
    """Integers of eighths, none 0 that was not: what divides by a power of two, and rounds, meets halves."""
    return np.asarray(np.copysign(np.ceil(np.abs(values) * 8) / 8, values))


def _make_pixels(values: Array) -> Array:
    """From 0 to 1 in steps of 255, as pictures come: some kernels take few steps for all."""
    return np.asarray(np.round(_PIXEL_STEPS * special.expit(values)) / _PIXEL_STEPS)


def _is_scale(t: CallTensor) -> bool:
    return varies(t) and bool(t.kind) and t.dtype not in PARTS and t.values.size > 0 and bool(t.values.min() > 0)


def _make_halves(tensors: Sequence[CallTensor]) -> list[Array]:
    """Scales that are powers of two, and odd multiples of half the smallest: divided by it, and rounded, they tie."""
    made = [np.exp2(np.round(np.log2(t.values))) if _is_scale(t) else t.values for t in tensors]
    scales = [float(v.min()) for t, v in zip(tensors, made, strict=True) if _is_scale(t)]
    if not scales:  # of this draw they hold zeros
        return made
    half = min(scales) / 2
    return [
        (2 * np.floor(v / (2 * half)) + 1) * half if _is_signed(t) and not t.param else v
        for t, v in zip(tensors, made, strict=True)
    ]


def _change_one(tensors: Sequence[CallTensor], which: int, of: Callable[[Array], Array]) -> list[Array]:
    return [of(t.values) if i == which else t.values for i, t in enumerate(tensors)]


def _scale_variances(tensors: Sequence[CallTensor], factor: float) -> list[Array]:
    """What is of one sign is a variance, or minus one, of which the root is as small as all else."""
    small = scale_values(tensors, factor)
    return [v * factor if _is_of_one_sign(t) else v for t, v in zip(tensors, small, strict=True)]


def _is_of_one_sign(t: CallTensor) -> bool:
    return varies(t) and t.values.size > 1 and not _spans_zero(t)


def _select_floors(floors: frozenset[float]) -> list[float]:
    return sorted(c for c in floors if 0 < c <= MAX_EPSILON)


def _find_small_factors(floors: frozenset[float]) -> list[float]:
    """Factors at which floors decide; a floor is added to squares too."""
    found = [FILLS["small"][0], _TINY_FACTOR]
    for c in _select_floors(floors):
        found += [
            f for f in (c, c**0.5) if f <= MAX_EPSILON and all(max(f / g, g / f) > _MIN_FACTOR_RATIO for g in found)
        ]
    return found[1:]


def _has_zeros(t: CallTensor) -> bool:
    """Whether it may hold more of them: numbers on both sides of 0, shares of 1.

    Masks keep theirs: what comes of a row that is masked in full is a convention of its own.
    """
    return varies(t) and (_spans_zero(t) or _is_distribution(t)) and not find_doubled_sizes(t)


def _spans_zero(t: CallTensor) -> bool:
    """Whether 0 lies among its values: of scales and variances, which are all positive, it is none."""
    return bool(t.values.size) and bool(t.values.min() <= 0 <= t.values.max())


def _is_distribution(t: CallTensor) -> bool:
    """Whether its numbers are shares of 1, of which one may be 0."""
    some = (p for p in list_properties(t.values.shape) if p.said == DISTRIBUTION)
    return t.dtype not in PARTS and any(p.bits(t.values, DTYPES[t.kind].u) >= MIN_PROPERTY_BITS for p in some)


def _put_zeros_in_slices(tensors: Sequence[CallTensor]) -> list[Array]:
    """One slice along each axis 0, of axes with three at least, where 0 is among the values."""
    made = [np.array(t.values) if _has_zeros(t) else t.values for t in tensors]
    for t, values in zip(tensors, made, strict=True):
        for axis, n in enumerate(t.shape) if _has_zeros(t) else ():
            if n >= MIN_ORDERED_ROWS:
                np.moveaxis(values, axis, 0)[n // 2] = 0.0
    return made


def _lift_far_above(values: Array) -> Array:
    """Far above 0, and past the largest of all others, of which it may be left out."""
    return np.asarray(FILLS["large"][0] * (1 + np.abs(values)))
