"""Every value of a dtype, as the fill of that name draws it: `every`, or a part of it, `every:17/4096`.

The numbers of a dtype are its bit patterns in order: 0, the subnormal and normal numbers, infinity, NaN, and the same
again with the sign set. A tensor of as many elements as there are patterns (65,536 in 16 bits) holds each of them once;
a smaller one holds one of every stretch of patterns of equal length, as f32 and f64 have in 65,536 elements. The part
17/4096 is the 17th of 4096 stretches of all patterns.
"""

from __future__ import annotations

import math
import re

import numpy as np
from numpy.typing import NDArray

from opproof.cases._case import Shape
from opproof.cases._fills.random_bits import Bits
from opproof.core.dtypes import Dtype
from opproof.core.errors import CaseError

#: The fill's name, before the part.
EVERY = "every"
_PART = re.compile(r"every:([1-9]\d*)/([1-9]\d*)")


def is_every(fill: str) -> bool:
    """Whether the fill draws every value, or a part of them."""
    return fill.partition(":")[0] == EVERY


def is_part(fill: str) -> bool:
    """Whether the fill draws one of several parts of every value."""
    return is_every(fill) and part_of(fill)[1] > 1


def part_of(fill: str) -> tuple[int, int]:
    """Return which part of how many, counted from 1. Raises CaseError where it is malformed."""
    if fill == EVERY:
        return 1, 1
    match = _PART.fullmatch(fill)
    k, n = (int(g) for g in match.groups()) if match else (0, 0)
    if not 1 <= k <= n:
        raise CaseError(f"malformed fill {fill!r}: expected every or every:K/N, as in every:17/4096, K from 1 to N.")
    return k, n


def width_of(dtype: Dtype) -> int:
    """Return how many bits a number has."""
    return 8 * dtype.numpy.itemsize


def draw_every(fill: str, shape: Shape, dtype: Dtype, order: Bits | None = None) -> NDArray[np.float64]:
    """Draw the values of the fill, in the order of their patterns; in another one where `order` gives bits for it."""
    part, parts = part_of(fill)
    count = math.prod(shape)
    places = np.arange(count, dtype=np.uint64)
    if order is not None and count > 1:
        places = _shuffle(places, order)
    patterns = _list_patterns(places + np.uint64((part - 1) * count), count * parts, dtype)
    with np.errstate(invalid="ignore"):  # a signalling NaN
        values = patterns.astype(f"u{dtype.numpy.itemsize}").view(dtype.numpy).astype(np.float64)
    return values.reshape(shape)


def _list_patterns(places: NDArray[np.uint64], count: int, dtype: Dtype) -> NDArray[np.uint64]:
    """Of each of `count` places on the way through all patterns, the one that stands for its stretch.

    The first of a stretch has many zeros in its mantissa, and no rounding shows at such numbers: only where it is a
    power of two, infinity or 0 does it stand for the stretch, elsewhere one drawn from it.
    """
    bits = width_of(dtype)
    if count >= 2**bits:
        return np.asarray(places % np.uint64(2**bits))
    length, rest = divmod(2**bits, count)
    starts = places * np.uint64(length) + places * np.uint64(rest) // np.uint64(count)
    if length == 1:
        return starts
    mantissa = np.uint64(2 ** (dtype.digits - 1) - 1)
    drawn = (places * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(11)) % np.uint64(length)
    return np.where(starts & mantissa, starts + drawn, starts)


def _shuffle(places: NDArray[np.uint64], order: Bits) -> NDArray[np.uint64]:
    return places[np.argsort(order(places.size), kind="stable")]
