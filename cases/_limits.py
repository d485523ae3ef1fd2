"""Fills at the limits: whole rows of infinities and NaN, rows far from zero, both sides of where formulas switch.

Each takes raw bits, a shape and the dtype, and returns float64, as the fills of _fills.py do.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from opproof.cases._case import Shape
from opproof.core.dtypes import Dtype, round_to

Floats = NDArray[np.float64]
Bits = Callable[[int], NDArray[np.uint64]]
Fill = Callable[[Bits, Shape, Dtype], Floats]

#: What rows of special-rows are, in turn: the numbers that fill the row, or the one and two that stand in it.
_WHOLE = (-math.inf, math.inf, math.nan)
_SINGLE = ((math.nan,), (math.inf,), (-math.inf,), (math.inf, -math.inf))
KINDS = 1 + len(_WHOLE) + len(_SINGLE)


def special_rows(normal: Fill) -> Fill:
    """Rows along the last axis in turn: ordinary; only -inf, inf, NaN; numbers with one NaN, one inf, one -inf, both.

    What stands alone does so at any place in the first turn, at the first in the second, at the last in the third.
    """

    def drawn(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
        values = normal(bits, shape, dtype)
        if not values.size or not shape:
            return values
        rows = values.reshape(-1, shape[-1])
        anywhere = (bits(len(rows)) >> np.uint64(11)) % np.uint64(shape[-1])
        for i, row in enumerate(rows):
            turn, kind = divmod(i, KINDS)
            if 1 <= kind <= len(_WHOLE):
                row[:] = _WHOLE[kind - 1]
            elif kind:
                start = (int(anywhere[i]), 0, -1)[turn % 3]
                for step, number in enumerate(_SINGLE[kind - 1 - len(_WHOLE)]):
                    row[(start - step) % len(row)] = number
        return rows.reshape(shape)

    return drawn


def alone(normal: Fill) -> Fill:
    """Rows along the last axis in turn: ordinary; of one number alone; of both zeros; with NaN of either sign.

    The one number is what a maximum or a minimum starts from, or what pads a row: -0, NaN of either sign, the largest,
    the least, an infinity.
    """

    def drawn(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
        values = normal(bits, shape, dtype)
        if not values.size or not shape:
            return values
        rows, signed = values.reshape(-1, shape[-1]), math.copysign(math.nan, -1)
        numbers = (-0.0, signed, dtype.max, -dtype.max, math.inf, -math.inf, math.nan)
        for i, row in enumerate(rows):
            kind = i % (len(numbers) + 3)
            if 1 <= kind <= len(numbers):
                row[:] = numbers[kind - 1]
            elif kind == len(numbers) + 1:
                row[:] = _choice(bits, row.shape, (0.0, -0.0))
            elif kind:
                row[[i % len(row), (i + len(row) // 2) % len(row)]] = signed, math.nan
        return rows.reshape(shape)

    return drawn


def along_first(rows: Fill) -> Fill:
    """`rows` with its rows along the first axis."""

    def drawn(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
        if len(shape) < 2:
            return rows(bits, shape, dtype)
        return np.moveaxis(rows(bits, (*shape[1:], shape[0]), dtype), -1, 0).copy()

    return drawn


def masked(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    """What masked elements hold in fill=masked: 1e15 of either sign, whose products float32 holds, or less in f16."""
    size = min(1e15, dtype.max / 16)
    return _choice(bits, shape, (size, -size))


def masked_special(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    """What masked elements hold in fill=masked-special: NaN and infinities."""
    return _choice(bits, shape, (math.nan, math.inf, -math.inf))


def _choice(bits: Bits, shape: Shape, values: tuple[float, ...]) -> Floats:
    raw = bits(math.prod(shape)) >> np.uint64(11)
    picked: Floats = np.asarray(values)[(raw % np.uint64(len(values))).astype(np.int64)].reshape(shape)
    return picked


def far(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    """Rows of about 51200, of one sign each: neighbours in the dtype, or a few apart where it has such neighbours."""
    gap = max(1.0, 2**15 * 2 * dtype.u)  # between numbers of this size
    steps = 51200 + gap * _choice(bits, shape, (0.0, 1.0, 2.0, 2.0))
    return steps * _choice(bits, (*shape[:-1], 1) if shape else (), (1.0, -1.0))


def farther(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    """Rows (planes, of more axes) of one sign past what kernels take for infinity, -65504, -1e9, -1e30; none alike."""
    few = (*shape[:-2], 1, 1) if len(shape) > 2 else (*shape[:-1], 1) if shape else ()
    size = _choice(bits, few, tuple(min(s, dtype.max / 2) for s in (2.0**17, 2.0**30, 2.0**127)))
    ranks = np.argsort(bits(math.prod(shape)).reshape(shape), axis=-1) if shape else 0
    return size * (1 - 2 * dtype.u * ranks) * _choice(bits, few, (1.0, -1.0))


def past_exp(normal: Fill) -> Fill:
    """Rows about 92 to 113 or their negatives: exponentials past the largest number of float32, or all 0 in it."""

    def drawn(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
        near = _choice(bits, (*shape[:-1], 1) if shape else (), (92.0, 98.0, 105.0, 113.0))
        sign = _choice(bits, near.shape, (1.0, -1.0))
        return near * sign + normal(bits, shape, dtype)

    return drawn


def about(mean: float, normal: Fill) -> Fill:
    """`normal` about a mean so far from zero that squares hold little of the spread."""
    return lambda bits, shape, dtype: mean + normal(bits, shape, dtype)


def heavy(normal: Fill) -> Fill:
    """20000 and more: the sum of four is past the largest number of f16, and no mean is."""
    return lambda bits, shape, dtype: 20000 + 5000 * np.abs(normal(bits, shape, dtype))


def least(normal: Fill) -> Fill:
    """Numbers about the smallest normal one, on both its sides, beside ordinary ones."""

    def drawn(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
        size = _choice(bits, shape, (dtype.tiny, 1.0))
        return size * normal(bits, shape, dtype)

    return drawn


def outliers(normal: Fill) -> Fill:
    """One number in 64 is 512 times as large, as channels of activations are: its square is past f16, no mean is."""

    def drawn(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
        values = normal(bits, shape, dtype)
        some = (np.arange(values.size) % 64 == 37).reshape(shape)
        return np.where(some, 512 * np.copysign(np.abs(values) + 0.5, values), values)

    return drawn


def one_apart(place: slice, distance: float, normal: Fill) -> Fill:
    """Rows of which the number at `place` is so far from where the others are."""

    def drawn(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
        values = normal(bits, shape, dtype)
        values[..., place] += distance
        return values

    return drawn


def squares(normal: Fill) -> Fill:
    """Numbers whose squares are past the largest number, are 0 or subnormal, or neither, one after the other."""

    def drawn(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
        most, least = int(0.58 * dtype.max_exponent), int(0.62 * dtype.max_exponent - 1)
        sizes = np.array([2.0**most, 2.0**-least, 1.0])
        values = normal(bits, shape, dtype)
        turns: Floats = sizes[np.arange(values.size) % len(sizes)].reshape(shape)
        return values * turns

    return drawn


def limits(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    """The largest numbers, the smallest ones, normal and subnormal, NaN, infinities, zeros, and ordinary ones."""
    edges = (dtype.max, dtype.tiny, dtype.tiny - dtype.subnormal, dtype.subnormal, math.inf, 0.0, 1.5)
    return _choice(bits, shape, (*edges, *(-edge for edge in edges), math.nan))


def pivots(normal: Fill) -> Fill:
    """Matrices of which the first column's largest element is not in the first row, but 0 or next to nothing."""

    def drawn(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
        values = normal(bits, shape, dtype)
        if not values.size or len(shape) < 2 or shape[-1] < 2:
            return values
        rows, columns = shape[-2:]
        moved = values / 4 / columns + 3 * np.roll(np.eye(rows, columns), 1, axis=0)
        diagonal = np.arange(min(rows, columns))
        small = _choice(bits, (*shape[:-2], 1), (0.0, 2.0**-14))
        small.flat[0] = 0
        moved[..., diagonal, diagonal] = small
        return moved

    return drawn


def singular(normal: Fill) -> Fill:
    """Matrices in turn: a row of zeros, a column of zeros, one that has an inverse, zeros alone."""

    def drawn(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
        values = normal(bits, shape, dtype)
        if not values.size or len(shape) < 2:
            return values
        matrices = values.reshape(-1, *shape[-2:])
        for i, matrix in enumerate(matrices):
            place = i // 4 % min(matrix.shape)
            if i % 4 == 2:
                matrix[:] += 3 * np.eye(*matrix.shape)
            matrix[((place, slice(None)), (slice(None), place), (slice(0), slice(0)), ...)[i % 4]] = 0
        return matrices.reshape(shape)

    return drawn


def infinite(normal: Fill) -> Fill:
    """Infinities of both signs beside ordinary numbers."""

    def drawn(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
        odd = _choice(bits, shape, (math.inf, -math.inf, 0.0, 0.0, 0.0, 0.0))
        return np.where(np.isinf(odd), odd, normal(bits, shape, dtype))

    return drawn


def lone(normal: Fill) -> Fill:
    """Rows in turn: zeros; zeros and one number; numbers and one zero; numbers.

    What is alone stands at any place in the first turn, at the first in the second, at the last in the third.
    """

    def drawn(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
        values = normal(bits, shape, dtype)
        if not values.size or not shape:
            return values
        rows = np.where(values == 0, 1.0, values).reshape(-1, shape[-1])
        anywhere = (bits(len(rows)) >> np.uint64(11)) % np.uint64(shape[-1])
        for i, row in enumerate(rows):
            turn, kind = divmod(i, 4)
            place = (int(anywhere[i]), 0, -1)[turn % 3]
            number = row[place]
            if kind in (0, 1):
                row[:] = 0
            row[place] = (0, number, 0, number)[kind]
        return rows.reshape(shape)

    return drawn


def brink(bits: Bits, shape: Shape, low: float, high: float, ordinary: Floats) -> Floats:
    """The ends of a closed interval, and what is a 128th and a 512th of it away from them, beside ordinary numbers."""
    span = high - low if math.isfinite(high - low) else 1.0
    ends = [(end, toward) for end, toward in ((low, span), (high, -span)) if math.isfinite(end)]
    near = [end + toward / part for end, toward in ends for part in (math.inf, math.inf, 128.0, 512.0)]
    chosen = _choice(bits, shape, (*near, *(math.nan,) * len(near)))
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


def branches(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    """BRANCHES of both signs, each with its two neighbours in the dtype, one after the other from a drawn place on."""
    points = round_to([p for p in BRANCHES if dtype.tiny < p < dtype.max / 4], dtype)
    spacing = 2 * dtype.u * 2.0 ** np.floor(np.log2(points))
    values = np.stack([points, points + spacing, points - spacing], axis=-1)
    both = np.ravel(np.stack([values, -values]))
    start = int(bits(1)[0] >> np.uint64(11)) % both.size
    return np.resize(np.roll(both, -start), shape)
