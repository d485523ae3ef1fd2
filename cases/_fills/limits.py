"""Fills at the limits: rows of infinities and NaN, rows far from zero, both sides of where formulas switch or round.

Each takes raw bits, a shape and the dtype, and returns float64, as all fills do. Rows lie along the last axis.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from opproof.cases._case import Shape
from opproof.cases._fills.random_bits import Bits, Fill, Floats, choose, draw_below, fill_normal
from opproof.core.dtypes import DTYPES, Dtype, round_to

#: What rows of special-rows are, in turn: the numbers that fill the row, or the one and two that stand in it.
_WHOLE = (-math.inf, math.inf, math.nan)
_SINGLE = ((math.nan,), (math.inf,), (-math.inf,), (math.inf, -math.inf))
KINDS = 1 + len(_WHOLE) + len(_SINGLE)


def fill_special_rows(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    """Draw rows in turn: ordinary; only -inf, inf, NaN; numbers with one NaN, one inf, one -inf, both.

    What stands alone does so at any place in the first turn, at the first in the second, at the last in the third.
    """
    values = fill_normal(bits, shape, dtype)
    if not values.size or not shape:
        return values
    rows = values.reshape(-1, shape[-1])
    anywhere = draw_below(bits, len(rows), shape[-1])
    for i, row in enumerate(rows):
        turn, kind = divmod(i, KINDS)
        if 1 <= kind <= len(_WHOLE):
            row[:] = _WHOLE[kind - 1]
        elif kind:
            start = (int(anywhere[i]), 0, -1)[turn % 3]
            for step, number in enumerate(_SINGLE[kind - 1 - len(_WHOLE)]):
                row[(start - step) % len(row)] = number
    return rows.reshape(shape)


def fill_alone(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    """Draw rows in turn: ordinary; of one number alone; of both zeros; with NaN of either sign.

    The one number is what a maximum or a minimum starts from, or what pads a row: -0, NaN of either sign, the largest,
    the least, an infinity.
    """
    values = fill_normal(bits, shape, dtype)
    if not values.size or not shape:
        return values
    rows, signed = values.reshape(-1, shape[-1]), math.copysign(math.nan, -1)
    numbers = (-0.0, signed, dtype.max, -dtype.max, math.inf, -math.inf, math.nan)
    for i, row in enumerate(rows):
        kind = i % (len(numbers) + 3)
        if 1 <= kind <= len(numbers):
            row[:] = numbers[kind - 1]
        elif kind == len(numbers) + 1:
            row[:] = choose(bits, row.shape, (0.0, -0.0))
        elif kind:
            row[[i % len(row), (i + len(row) // 2) % len(row)]] = signed, math.nan
    return rows.reshape(shape)


def make_along_first(rows: Fill) -> Fill:
    """Make a fill whose rows, as `rows` draws them, lie along the first axis."""

    def fill(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
        if len(shape) < 2:
            return rows(bits, shape, dtype)
        return np.moveaxis(rows(bits, (*shape[1:], shape[0]), dtype), -1, 0).copy()

    return fill


def fill_masked(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    """Draw what masked elements hold in fill=masked: 1e15 of either sign, of which float32 holds products."""
    size = min(1e15, dtype.max / 16)
    return choose(bits, shape, (size, -size))


def fill_masked_special(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    """Draw what masked elements hold in fill=masked-special: NaN and infinities."""
    return choose(bits, shape, (math.nan, math.inf, -math.inf))


def fill_far(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    """Draw rows of about 51200, of one sign each: neighbours in the dtype, or a few apart where these are so close."""
    gap = max(1.0, 2**15 * 2 * dtype.u)  # between numbers of this size
    steps = 51200 + gap * choose(bits, shape, (0.0, 1.0, 2.0, 2.0))
    return steps * choose(bits, (*shape[:-1], 1) if shape else (), (1.0, -1.0))


def fill_farther(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    """Draw rows (or planes) of one sign past what kernels take for infinity, -65504, -1e9, -1e30; none alike."""
    few = (*shape[:-2], 1, 1) if len(shape) > 2 else (*shape[:-1], 1) if shape else ()
    size = choose(bits, few, tuple(min(s, dtype.max / 2) for s in (2.0**17, 2.0**30, 2.0**127)))
    ranks = np.argsort(bits(math.prod(shape)).reshape(shape), axis=-1) if shape else 0
    return size * (1 - 2 * dtype.u * ranks) * choose(bits, few, (1.0, -1.0))


def fill_past_exp(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    """Draw rows about 92 to 113 or -113 to -92: exponentials past the largest number of float32, or all 0 in it."""
    near = choose(bits, (*shape[:-1], 1) if shape else (), (92.0, 98.0, 105.0, 113.0))
    sign = choose(bits, near.shape, (1.0, -1.0))
    return near * sign + fill_normal(bits, shape, dtype)


def make_offset(mean: float) -> Fill:
    """Make a fill of numbers about a mean so far from zero that squares hold little of the spread."""
    return lambda bits, shape, dtype: mean + fill_normal(bits, shape, dtype)


def fill_heavy(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    """Draw 20000 and more: the sum of four is past the largest number of f16, and no mean is."""
    return 20000 + 5000 * np.abs(fill_normal(bits, shape, dtype))


def fill_least(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    """Draw numbers about the smallest normal one, on both its sides, beside ordinary ones."""
    size = choose(bits, shape, (dtype.tiny, 1.0))
    return size * fill_normal(bits, shape, dtype)


def fill_outliers(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    """Draw one number in 64 that is 512 times as large, as activations have it: its square is past f16, no mean is."""
    values = fill_normal(bits, shape, dtype)
    some = (np.arange(values.size) % 64 == 37).reshape(shape)
    return np.where(some, 512 * np.copysign(np.abs(values) + 0.5, values), values)


def make_one_apart(place: slice, distance: float) -> Fill:
    """Make a fill of rows of which the number at `place` is so far from where the others are."""

    def fill(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
        values = fill_normal(bits, shape, dtype)
        values[..., place] += distance
        return values

    return fill


def fill_squares(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    """Draw numbers whose squares are past the largest number, are 0 or subnormal, or neither, one after the other."""
    most, least = int(0.58 * dtype.max_exponent), int(0.62 * dtype.max_exponent - 1)
    sizes = np.array([2.0**most, 2.0**-least, 1.0])
    values = fill_normal(bits, shape, dtype)
    turns: Floats = sizes[np.arange(values.size) % len(sizes)].reshape(shape)
    return values * turns


def fill_limits(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    """Draw the largest numbers, the smallest ones, normal and subnormal, NaN, infinities, zeros, and ordinary ones."""
    edges = (dtype.max, dtype.tiny, dtype.tiny - dtype.subnormal, dtype.subnormal, math.inf, 0.0, 1.5)
    return choose(bits, shape, (*edges, *(-edge for edge in edges), math.nan))


def fill_infinite(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    """Draw infinities of both signs beside ordinary numbers."""
    odd = choose(bits, shape, (math.inf, -math.inf, 0.0, 0.0, 0.0, 0.0))
    return np.where(np.isinf(odd), odd, fill_normal(bits, shape, dtype))


def fill_lone(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    """Draw rows in turn: zeros; zeros and one number; numbers and one zero; numbers.

    What is alone stands at any place in the first turn, at the first in the second, at the last in the third.
    """
    values = fill_normal(bits, shape, dtype)
    if not values.size or not shape:
        return values
    rows = np.where(values == 0, 1.0, values).reshape(-1, shape[-1])
    anywhere = draw_below(bits, len(rows), shape[-1])
    for i, row in enumerate(rows):
        turn, kind = divmod(i, 4)
        place = (int(anywhere[i]), 0, -1)[turn % 3]
        number = row[place]
        if kind in (0, 1):
            row[:] = 0
        row[place] = (0, number, 0, number)[kind]
    return rows.reshape(shape)


def fill_brink(bits: Bits, shape: Shape, low: float, high: float, ordinary: Floats) -> Floats:
    """Draw the ends of an interval, and what is a 128th and a 512th of it away from them, beside ordinary numbers."""
    span = high - low if math.isfinite(high - low) else 1.0
    ends = [(end, toward) for end, toward in ((low, span), (high, -span)) if math.isfinite(end)]
    near = [end + toward / part for end, toward in ends for part in (math.inf, math.inf, 128.0, 512.0)]
    chosen = choose(bits, shape, (*near, *(math.nan,) * len(near)))
    return np.where(np.isnan(chosen), ordinary, chosen)


#: Where implementations go from one formula to another: polynomials of exp, log, erf, tanh and atan end, sums that
#: no longer matter are left out, exponents leave the range of f16, f32 and f64, reductions of angles become exact.
BRANCHES = (
    *(2.0**-p for p in (28, 26, 24, 13, 12, 11, 10)),
    *map(
        float,
        """
        1e-4 1e-3 0.0625 0.1 0.125 0.25 0.29 0.34657359 0.414213562 0.4375 0.46875 0.5 0.541 0.625 0.65625 0.6875
        0.693147181 0.707106781 0.785398163 0.84375 0.875 0.921875 1.0 1.03972077 1.1875 1.25 1.41421356 1.5
        1.57079633 1.75 2.0 2.4375 2.5 2.857 3.0 3.14159265 3.832 4.0 4.5 5.0 6.0 6.24 7.90531111 8.0 8.31776617 9.0
        9.01 9.7 10.0 11.0898664 12.0 15.0 15.942385 16.0 16.6355323 17.0 17.3286795 18.3684002 18.7149739 20.0 22.0
        28.0 30.0 36.7368006 37.0 40.0 44.0 50.0 64.0 87.3365448 88.3762626 88.7228391 89.4159862 103.278929
        103.972084 104.0 126.0 129.0 149.0 150.0 192.0 256.0 708.396419 709.782713 710.475860 745.133219
        1022.0 1024.0 1075.0 2048.0 4096.0 8192.0 48039.0 65504.0 71476.0 105615.0 4194304.0 8388608.0 16777216.0
        """.split(),
    ),
)


def fill_branches(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    """Draw BRANCHES of both signs, each with its two neighbours in the dtype, in turn from a drawn place on."""
    points = round_to([p for p in BRANCHES if dtype.tiny < p < dtype.max / 4], dtype)
    spacing = 2 * dtype.u * 2.0 ** np.floor(np.log2(points))
    values = np.stack([points, points + spacing, points - spacing], axis=-1)
    both = np.ravel(np.stack([values, -values]))
    start = int(draw_below(bits, 1, both.size)[0])
    return np.resize(np.roll(both, -start), shape)


#: Significant digits of f8e5m2, f8e4m3, bf16 and f16.
_SHORT_DIGITS = (3, 4, 8, 11)
#: How many midpoints of each are drawn.
_MIDPOINTS = 4
#: At how many powers of two: in the normal range of all of them.
_POWERS = 3
#: A tenth to three of both signs.
_TENTHS = tuple(s * k / 10 for s in (1, -1) for k in range(1, 31))


def fill_midpoints(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    """Draw midpoints of numbers of fewer digits, and what is a roundoff (of float32 at least) below and above.

    To even is right at the first; whoever rounds twice, to 16 bits and then to 8, takes the others for it.
    """
    return choose(bits, shape, _list_midpoints(dtype))


@functools.cache
def _list_midpoints(dtype: Dtype) -> Floats:
    found, beside = set[float](), max(dtype.u, DTYPES["f32"].u)
    for digits in _SHORT_DIGITS:
        for odd in np.linspace(2**digits + 1, 2 ** (digits + 1) - 1, _MIDPOINTS).round() // 2 * 2 + 1:
            for power in range(_POWERS):
                middle = odd / 2.0**digits * 2.0**power
                found |= {middle + k * beside * 2.0**power for k in (-2, 0, 2)}
    values = np.array(sorted(v for v in found if float(round_to(np.array(v), dtype)) == v))
    return np.concatenate([-values, values])


def fill_tenths(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    """Draw tenths, few of which are numbers of the dtype: 1 / 0.1 is below 10, and rounds to it."""
    return np.asarray(round_to(choose(bits, shape, _TENTHS), dtype))
