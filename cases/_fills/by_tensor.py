"""Fills whose numbers differ by tensor, by row or in size, as data do and as draws of one size do not.

Opposed: every element of the first tensor above 0 and of the second below, scores of a product all far below 0.
Agreed: every element of both above 0, scores all so far above 0 that their exponentials are past the largest float32.
Steep: the second tensor up to 60, so that b log(a) comes near to where exponentials end, and not past it.
Truths: masks that hold what is true beside 1: 2, -1, and what is 0 or below it in 8 bits.
Padded: masks that leave out the first quarter, half or three quarters of a row, as sequences padded on the left.
Spread: numbers of many sizes, cotangents too. Sums of them round, where those of numbers on one grid are exact.
Special pairs: of two tensors of 81 numbers, each of SPECIALS in one meets each in the other. Where each is drawn alone,
two infinities of one sign, or two zeros, hardly ever meet.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.cases._case import Shape
from opproof.cases._fills.random_bits import Bits, Floats, draw_below, fill_normal
from opproof.core.dtypes import Dtype

OPPOSED, PADDED, SPREAD, SPECIAL_PAIRS = "opposed", "padded", "spread", "special-pairs"
AGREED, STEEP, TRUTHS = "agreed", "steep", "truths"
#: What arithmetic of two numbers treats apart: NaN, infinities, zeros of both signs; and ordinary ones to meet them.
SPECIALS = (math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, 2.5, -0.75)
#: By fill what becomes of the first tensor and of the second. Of two numbers of about 1 that are 256 times as large,
#: eight products add up to past what any kernel begins a maximum with; of two that are 8 times as large, to hundreds.
BY_POSITION: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    OPPOSED: (lambda v: 256 * np.abs(v), lambda v: -256 * np.abs(v)),
    AGREED: (lambda v: 8 * np.abs(v), lambda v: 8 * np.abs(v)),
    STEEP: (lambda v: v, lambda v: np.clip(32 * v, -60, 60)),
}
#: What masks hold in turn: 256 and 65536 are 0 in 8 and in 16 bits, 255 is -1 in 8, 2 and 254 are even.
_TRUE = (0, 1, 0, 2, 0, -1, 0, 255, 0, 254, 0, 256, 0, 65536)
#: The binary digits over which sizes are spread.
_OVER = 12


def place_values(fill: str, values: Floats, position: int) -> Floats:
    """Return `values` as the tensor in this position has them, by a fill of BY_POSITION."""
    made: Floats = BY_POSITION[fill][position](values) if position < 2 else values
    return made


def draw_truths(bits: Bits, shape: Shape) -> NDArray[np.int64]:
    """Draw a mask half of which is 0, the other half what is not: every number of _TRUE, where there is room."""
    turn = np.argsort(bits(math.prod(shape)), kind="stable") % len(_TRUE)
    return np.array(_TRUE, np.int64)[turn].reshape(shape)


def draw_padded(bits: Bits, shape: Shape) -> NDArray[np.int64]:
    """Draw a mask, 0 where a row is left out; rows begin in turn at a quarter, half and three quarters."""
    rows = math.prod(shape[:-1])
    quarter = 1 + (bits(rows) >> np.uint64(32)).astype(np.int64) % 3
    quarter[: min(rows, 1)] = 3
    return (np.arange(shape[-1]) * 4 >= quarter[:, None] * shape[-1]).astype(np.int64).reshape(shape)


def fill_spread(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    """Draw normal numbers, each 2⁻ᵏ times as large with a k of its own."""
    values = fill_normal(bits, shape, dtype)
    halved = (bits(math.prod(shape)) >> np.uint64(48)).astype(np.int64) % (_OVER + 1)
    return np.ldexp(values, -halved.reshape(shape))


def draw_special_pairs(bits: Bits, shape: Shape, position: int) -> Floats:
    """Draw SPECIALS: the first tensor has each as often in a row as there are of them, the second one after another."""
    turn = np.arange(math.prod(shape)) + int(draw_below(bits, 1, len(SPECIALS) ** 2)[0])
    drawn: Floats = np.array(SPECIALS)[turn // len(SPECIALS) ** (1 - min(position, 1)) % len(SPECIALS)]
    return drawn.reshape(shape)
