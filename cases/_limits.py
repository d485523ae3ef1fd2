"""Fills at the limits: whole rows of infinities and NaN, rows far from zero, both sides of where formulas switch.

Each takes raw bits, a shape and the dtype, and returns float64, as the fills of _data.py do.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from opproof.cases._case import Shape
from opproof.vocabulary.dtypes import Dtype

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


def along_first(rows: Fill) -> Fill:
    """`rows` with its rows along the first axis."""

    def drawn(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
        if len(shape) < 2:
            return rows(bits, shape, dtype)
        return np.moveaxis(rows(bits, (*shape[1:], shape[0]), dtype), -1, 0).copy()

    return drawn


def masked(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    """What masked elements hold in fill=masked: 1e30 of either sign, or what of it is left in f16."""
    size = min(1e30, dtype.max / 16)
    return _choice(bits, shape, (size, -size))


def masked_special(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    """What masked elements hold in fill=masked-special: NaN and infinities."""
    return _choice(bits, shape, (math.nan, math.inf, -math.inf))


def _choice(bits: Bits, shape: Shape, values: tuple[float, ...]) -> Floats:
    raw = bits(math.prod(shape)) >> np.uint64(11)
    picked: Floats = np.asarray(values)[(raw % np.uint64(len(values))).astype(np.int64)].reshape(shape)
    return picked
