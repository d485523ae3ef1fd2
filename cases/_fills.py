"""How the values of a tensor are drawn: every fill by its name, and what holds of some."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from opproof.cases import _limits
from opproof.cases._case import Shape
from opproof.cases._every import is_every
from opproof.cases._rounding import midpoints, tenths
from opproof.cases._stored import is_stored
from opproof.cases._uneven import BY_POSITION, PADDED, SPECIAL_PAIRS, SPREAD, TRUTHS, spread
from opproof.core.dtypes import Dtype

Floats = NDArray[np.float64]
Bits = Callable[[int], NDArray[np.uint64]]

#: Fills in which bytes run through all their values, some codes are of no finite number, and the scales of blocks are
#: subnormal numbers of f16: of weights below 1e-3.
EVERY_BYTE, NAN_CODES, SMALL_SCALES = "every-byte", "nan-codes", "small-scales"

#: The fill in which all tensors of a shape have the same values, each in memory of its own.
ALIKE = "alike"
#: The fill of rows whose exponentials overflow.
PAST_EXP = "past-exp"
#: Positive numbers, cotangents too: long sums only grow, and in 16 bits they stop growing.
GROWING = "growing"

#: The fill of rows of one number alone, which a search starts from.
ALONE = "alone"

#: The fill of matrices whose elimination has to swap rows.
PIVOTS = "pivots"
#: The fill of matrices of which some have no inverse, exactly, and a gradient of their determinant all the same.
SINGULAR = "singular"

#: The fill of tensors whose domain has its ends: targets of 0 and 1, weights and moments of 0, gates that are shut.
BRINK = "brink"

#: Magnitudes at which published bugs appear (exp overflow, saturation, softplus thresholds).
EXTREMES = (15.0, 50.0, 100.0, 1e4, 1e7)

#: Values that published bug reports pin, by the name of the report.
REPORTS: dict[str, tuple[float, ...]] = {
    # candle issue 2114: sigmoid's gradient is NaN at -548.3162.
    "candle-2114": (
        *(-548.3162, -201.7132, -74.2032, -27.2899, -10.0179, -3.6269, -1.1752, 0.0),
        *(1.1752, 3.6269, 10.0179, 27.2899, 74.2032, 201.7132, 548.3162),
    ),
}

_FOUR = np.ones(4)


def normal(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    """Sum of four 16-bit uniforms, a dyadic rational close to normal: |x| < 4, deviation 1.15."""
    quarters = bits(math.prod(shape)).astype("<u8", copy=False).view("<u2").reshape(-1, 4)
    total: Floats = quarters @ _FOUR  # integers, which float64 adds without rounding
    return ((total - 131070) / 2**15).reshape(shape)


def choice(bits: Bits, shape: Shape, values: tuple[float, ...] | NDArray[np.float64]) -> Floats:
    raw = bits(math.prod(shape)) >> np.uint64(11)
    picked: Floats = np.asarray(values)[(raw % np.uint64(len(values))).astype(np.int64)].reshape(shape)
    return picked


def _every(bits: Bits, shape: Shape, chosen: Floats, share: int, otherwise: Floats) -> Floats:
    """`chosen` at about one element in `share`, but at the first one always."""
    raw = bits(math.prod(shape)) >> np.uint64(11)
    mask = raw % np.uint64(share) == 0
    mask[:1] = True
    return np.where(mask.reshape(shape), chosen, otherwise)


def _extreme(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    sizes = [m for m in EXTREMES if m < dtype.max / 4]
    signed = choice(bits, shape, tuple(s * m for m in sizes for s in (1, -1)))
    return _every(bits, shape, signed * (1 + normal(bits, shape, dtype) / 64), 2, normal(bits, shape, dtype))


def _special(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    odd = choice(bits, shape, (np.nan, np.inf, -np.inf, 0.0, -0.0))
    values = _every(bits, shape, odd, 5, normal(bits, shape, dtype))
    if values.size > 8 and not np.isnan(values).any():  # no case that asks for NaN is without one
        values.flat[values.size // 2] = np.nan
    return values


def _positive(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    return np.abs(normal(bits, shape, dtype)) + 2**-4


def _with_zeros(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    return _every(bits, shape, np.zeros(shape), 2, normal(bits, shape, dtype))


def _constant(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    rows = normal(bits, (*shape[:-1], 1) if shape else (), dtype)
    return np.broadcast_to(rows, shape).copy()


def _close(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    """1 and its neighbours in the dtype, of both signs: what any lower precision takes for equal."""
    return choice(bits, shape, tuple(s * (1 + k * dtype.u) for s in (1, -1) for k in (-1, 0, 2)))


def _ties(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    """Few different numbers; two alike alone would hide which of them an answer has taken."""
    values = choice(bits, shape, (-1.0, -0.5, 0.0, 0.5, 1.0))
    if values.size == 2 and values.flat[0] == values.flat[1]:
        values.flat[1] = 0.5 if values.flat[0] == 0 else 0.0
    return values


_GRID = np.arange(-12, 13) / 2

#: How values are drawn. Each takes raw bits, a shape and the dtype, and returns float64.
FILLS: dict[str, Callable[[Bits, Shape, Dtype], Floats]] = {
    "normal": normal,
    "wide": lambda b, s, d: 6 * normal(b, s, d),
    "offset": lambda b, s, d: 10 + normal(b, s, d),
    "huge": lambda b, s, d: normal(b, s, d) * (2.0**10 if d.max_exponent > 16 else 2.0**4),
    "small": lambda b, s, d: normal(b, s, d) / 2**10,
    "mixed": lambda b, s, d: _every(b, s, normal(b, s, d) / 2**10, 2, normal(b, s, d)),
    "positive": _positive,
    GROWING: _positive,
    "negative": lambda b, s, d: -np.abs(normal(b, s, d)) - 2**-4,
    "extreme": _extreme,
    "special": _special,
    "zeros": _with_zeros,
    "ties": _ties,
    "halves": lambda b, s, d: choice(b, s, _GRID),
    "constant": _constant,
    "kink": lambda b, s, d: _every(b, s, choice(b, s, _GRID), 2, normal(b, s, d)),
    "exact": lambda b, s, d: choice(b, s, (-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0)),
    "signs": lambda b, s, d: choice(b, s, (-1.0, 0.0, 1.0)),
    "subnormal": lambda b, s, d: normal(b, s, d) * d.tiny,
    "tiny": lambda b, s, d: _every(b, s, np.zeros(s), 2, normal(b, s, d) * d.tiny * 2**8),
    "close": _close,
    "special-rows": _limits.special_rows(normal),
    "special-columns": _limits.along_first(_limits.special_rows(normal)),
    ALONE: _limits.alone(normal),
    "masked": normal,
    "masked-special": normal,
    "far": _limits.far,
    "farther": _limits.farther,
    PAST_EXP: _limits.past_exp(normal),
    "past-int32": lambda b, s, d: _every(b, s, normal(b, s, d) * min(2.0**34, d.max / 8), 2, normal(b, s, d)),
    "offset-1e3": _limits.about(1e3, normal),
    "offset-1e4": _limits.about(1e4, normal),
    "heavy": _limits.heavy(normal),
    "least": _limits.least(normal),
    "infinite": _limits.infinite(normal),
    "branches": _limits.branches,
    "edges": lambda b, s, d: _every(b, s, choice(b, s, _GRID), 2, normal(b, s, d)),
    "meet": normal,
    ALIKE: normal,
    "lone": _limits.lone(normal),
    **dict.fromkeys(BY_POSITION, normal),
    PADDED: normal,
    TRUTHS: normal,
    # All others together are hundredths of its exponential, and no less; behind it, sums in turn would lose them.
    "crest": _limits.one_apart(slice(-1, None), 16.0, normal),
    # A pivot that is none of theirs.
    "leading": _limits.one_apart(slice(1), 4096.0, normal),
    "squares": _limits.squares(normal),
    "outliers": _limits.outliers(normal),
    "limits": _limits.limits,
    PIVOTS: _limits.pivots(normal),
    SINGULAR: _limits.singular(normal),
    SPREAD: spread(normal),
    SPECIAL_PAIRS: normal,
    BRINK: _with_zeros,
    EVERY_BYTE: normal,
    NAN_CODES: normal,
    SMALL_SCALES: normal,
    "midpoints": midpoints(choice),
    "tenths": tenths(choice),
}

#: By fill, what stands where an operator's mask hides the elements that the fill drew.
HIDDEN: dict[str, Callable[[Bits, Shape, Dtype], Floats]] = {
    "masked": _limits.masked,
    "masked-special": _limits.masked_special,
}

#: Fills with NaN and infinities in place of numbers: constraints give way to them, and no gradient is asked for.
NOT_FINITE = frozenset({"special", "special-rows", "special-columns", SPECIAL_PAIRS, "limits", ALONE, NAN_CODES})

#: By fill the dtypes of which no gradient is asked for: past exp a forward saves about 100, whose rounding alone is as
#: large as the gradient in bf16; and of numbers past 1e5 that are neighbours in bf16 a softmax takes one whole.
FORWARD_ALONE = {PAST_EXP: ("bf16",), "farther": ("bf16",)}

#: Fills of one tensor, the first that has rows, or of "far" the mask that is added: the others are drawn as "normal".
OF_ONE = frozenset({"special-rows", "special-columns", ALONE, "infinite", "far", "farther", PAST_EXP, "past-int32"})

#: Fills that sit on kinks and ties on purpose; all others keep a margin from them.
ON_KINKS = frozenset(
    NOT_FINITE
    | {"zeros", "ties", "halves", "constant", "kink", "exact", "signs", "subnormal", "tiny", "close"}
    | {"far", "farther", PAST_EXP, "past-int32", "offset-1e3", "offset-1e4", "heavy", "least"}
    | {"branches", "edges", "meet", ALIKE, "lone", "squares", BRINK, "midpoints", "tenths"}
)


def is_on_kinks(fill: str) -> bool:
    """Whether the fill may sit on kinks."""
    return fill in ON_KINKS or fill in REPORTS or is_every(fill) or is_stored(fill)


def name_fill(values: Floats) -> str:
    """The fill that is most like these values."""
    if not values.size:
        return "normal"
    with np.errstate(all="ignore"):
        mean, deviation = float(values.mean()), float(values.std())
    if deviation == 0 or not math.isfinite(deviation):
        return "normal"
    if abs(mean) > 100 * deviation:
        return "offset-1e3"
    if abs(mean) > 4 * deviation:
        return "offset"
    return "wide" if deviation > 3 else "small" if deviation < 2**-8 else "normal"
