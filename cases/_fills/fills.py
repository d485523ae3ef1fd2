"""How the values of a tensor are drawn: every fill by its name, and what holds of some."""

from __future__ import annotations

import math

import numpy as np

from opproof.cases._case import Shape
from opproof.cases._fills import limits, matrices
from opproof.cases._fills.by_tensor import BY_POSITION, PADDED, SPECIAL_PAIRS, SPREAD, TRUTHS, fill_spread
from opproof.cases._fills.exhaustive import is_every
from opproof.cases._fills.random_bits import Bits, Fill, Floats, choose, draw_below, fill_normal
from opproof.cases._fills.stored import is_stored
from opproof.core.dtypes import Dtype

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


def _mix_in(bits: Bits, shape: Shape, chosen: Floats, share: int, otherwise: Floats) -> Floats:
    """`chosen` at about one element in `share`, but at the first one always."""
    mask = draw_below(bits, math.prod(shape), share) == 0
    mask[:1] = True
    return np.where(mask.reshape(shape), chosen, otherwise)


def _fill_extreme(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    sizes = [m for m in EXTREMES if m < dtype.max / 4]
    signed = choose(bits, shape, tuple(s * m for m in sizes for s in (1, -1)))
    return _mix_in(bits, shape, signed * (1 + fill_normal(bits, shape, dtype) / 64), 2, fill_normal(bits, shape, dtype))


def _fill_special(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    odd = choose(bits, shape, (np.nan, np.inf, -np.inf, 0.0, -0.0))
    values = _mix_in(bits, shape, odd, 5, fill_normal(bits, shape, dtype))
    if values.size > 8 and not np.isnan(values).any():  # no case that asks for NaN is without one
        values.flat[values.size // 2] = np.nan
    return values


def _fill_positive(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    return np.abs(fill_normal(bits, shape, dtype)) + 2**-4


def _fill_with_zeros(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    return _mix_in(bits, shape, np.zeros(shape), 2, fill_normal(bits, shape, dtype))


def _fill_constant(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    rows = fill_normal(bits, (*shape[:-1], 1) if shape else (), dtype)
    return np.broadcast_to(rows, shape).copy()


def _fill_close(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    """1 and its neighbours in the dtype, of both signs: what any lower precision takes for equal."""
    return choose(bits, shape, tuple(s * (1 + k * dtype.u) for s in (1, -1) for k in (-1, 0, 2)))


def _fill_ties(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    """Few different numbers; two alike alone would hide which of them an answer has taken."""
    values = choose(bits, shape, (-1.0, -0.5, 0.0, 0.5, 1.0))
    if values.size == 2 and values.flat[0] == values.flat[1]:
        values.flat[1] = 0.5 if values.flat[0] == 0 else 0.0
    return values


def _fill_past_int32(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    large = fill_normal(bits, shape, dtype) * min(2.0**34, dtype.max / 8)
    return _mix_in(bits, shape, large, 2, fill_normal(bits, shape, dtype))


_GRID = np.arange(-12, 13) / 2

#: How values are drawn. Each takes raw bits, a shape and the dtype, and returns float64.
FILLS: dict[str, Fill] = {
    "normal": fill_normal,
    "wide": lambda b, s, d: 6 * fill_normal(b, s, d),
    "offset": lambda b, s, d: 10 + fill_normal(b, s, d),
    "huge": lambda b, s, d: fill_normal(b, s, d) * (2.0**10 if d.max_exponent > 16 else 2.0**4),
    "small": lambda b, s, d: fill_normal(b, s, d) / 2**10,
    "mixed": lambda b, s, d: _mix_in(b, s, fill_normal(b, s, d) / 2**10, 2, fill_normal(b, s, d)),
    "positive": _fill_positive,
    GROWING: _fill_positive,
    "negative": lambda b, s, d: -np.abs(fill_normal(b, s, d)) - 2**-4,
    "extreme": _fill_extreme,
    "special": _fill_special,
    "zeros": _fill_with_zeros,
    "ties": _fill_ties,
    "halves": lambda b, s, d: choose(b, s, _GRID),
    "constant": _fill_constant,
    "kink": lambda b, s, d: _mix_in(b, s, choose(b, s, _GRID), 2, fill_normal(b, s, d)),
    "exact": lambda b, s, d: choose(b, s, (-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0)),
    "signs": lambda b, s, d: choose(b, s, (-1.0, 0.0, 1.0)),
    "subnormal": lambda b, s, d: fill_normal(b, s, d) * d.tiny,
    "tiny": lambda b, s, d: _mix_in(b, s, np.zeros(s), 2, fill_normal(b, s, d) * d.tiny * 2**8),
    "close": _fill_close,
    "special-rows": limits.fill_special_rows,
    "special-columns": limits.make_along_first(limits.fill_special_rows),
    ALONE: limits.fill_alone,
    "masked": fill_normal,
    "masked-special": fill_normal,
    "far": limits.fill_far,
    "farther": limits.fill_farther,
    PAST_EXP: limits.fill_past_exp,
    "past-int32": _fill_past_int32,
    "offset-1e3": limits.make_offset(1e3),
    "offset-1e4": limits.make_offset(1e4),
    "heavy": limits.fill_heavy,
    "least": limits.fill_least,
    "infinite": limits.fill_infinite,
    "branches": limits.fill_branches,
    "edges": lambda b, s, d: _mix_in(b, s, choose(b, s, _GRID), 2, fill_normal(b, s, d)),
    "meet": fill_normal,
    ALIKE: fill_normal,
    "lone": limits.fill_lone,
    **dict.fromkeys(BY_POSITION, fill_normal),
    PADDED: fill_normal,
    TRUTHS: fill_normal,
    # All others together are hundredths of its exponential, and no less; behind it, sums in turn would lose them.
    "crest": limits.make_one_apart(slice(-1, None), 16.0),
    # A pivot that is none of theirs.
    "leading": limits.make_one_apart(slice(1), 4096.0),
    "squares": limits.fill_squares,
    "outliers": limits.fill_outliers,
    "limits": limits.fill_limits,
    PIVOTS: matrices.fill_pivots,
    SINGULAR: matrices.fill_singular,
    SPREAD: fill_spread,
    SPECIAL_PAIRS: fill_normal,
    BRINK: _fill_with_zeros,
    EVERY_BYTE: fill_normal,
    NAN_CODES: fill_normal,
    SMALL_SCALES: fill_normal,
    "midpoints": limits.fill_midpoints,
    "tenths": limits.fill_tenths,
}

#: By fill, what stands where an operator's mask hides the elements that the fill drew.
HIDDEN: dict[str, Fill] = {
    "masked": limits.fill_masked,
    "masked-special": limits.fill_masked_special,
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
    """Return the name of the fill that is most like these values."""
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
