"""Every value of a dtype, as the fill of that name draws it: `every`, or a part of it, `every:17/4096`; and every pair.

The numbers of a dtype are its bit patterns in order: 0, the subnormal and normal numbers, infinity, NaN, and the same
again with the sign set. A tensor of as many elements as there are patterns (65,536 in 16 bits) holds each of them once;
a smaller one holds one of every stretch of patterns of equal length, as f32 and f64 have in 65,536 elements. The part
17/4096 is the 17th of 4096 stretches of all patterns.

The fill `pairs:17/4096` draws the 17th of 4096 parts of all pairs of two numbers of 16 bits: all that the second tensor
may hold beside each of a few that the first does, 16 of them here.
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

#: The fills' names, before the part.
EVERY = "every"
PAIRS = "pairs"
_PART = re.compile(r"(?:every|pairs):([1-9]\d*)/([1-9]\d*)")
#: Bits of the numbers whose pairs are tried: 2^32 pairs take hours, those of 32 bits for ever.
PAIR_BITS = 16


def is_every(fill: str) -> bool:
    """Whether the fill draws every value or pair, or a part of them."""
    return fill.partition(":")[0] in (EVERY, PAIRS)


def is_pairs(fill: str) -> bool:
    """Whether the fill draws pairs of values."""
    return fill.partition(":")[0] == PAIRS


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
        name = fill.partition(":")[0]
        whole = f"{EVERY} or " * (name == EVERY)
        raise CaseError(f"malformed fill {fill!r}: expected {whole}{name}:K/N, as in {name}:17/4096, K from 1 to N.")
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


def draw_pairs(fill: str, shape: Shape, dtype: Dtype, tensor: int, order: Bits | None = None) -> NDArray[np.float64]:
    """Draw the values of the first `tensor` or the second, in the order of their patterns or in that of some bits.

    Both are drawn with the same bits: the pairs stay. Of smaller tensors a pair stands for a stretch of them. Raises
    CaseError for other dtypes, and for a third tensor.
    """
    part, parts = part_of(fill)
    if width_of(dtype) != PAIR_BITS or tensor > 1:
        raise CaseError(f"fill {fill!r} draws pairs of 16-bit floats: expected f16 or bf16, and two tensors.")
    count, every = math.prod(shape), 2 ** (2 * PAIR_BITS)
    places = np.arange(count, dtype=np.uint64)
    if order is not None and count:  # an odd factor leaves each place of a power of two once
        factor, offset = (np.uint64(n) for n in order(2))
        one = np.uint64(1)
        places = (places * (factor | one if count & (count - 1) == 0 else one) + offset) % np.uint64(count)
    places = (places + np.uint64((part - 1) * count)) * np.uint64(max(1, every // max(1, count * parts)))
    patterns = places >> np.uint64(PAIR_BITS) if tensor == 0 else places
    with np.errstate(invalid="ignore"):  # a signalling NaN
        values = (patterns % np.uint64(2**PAIR_BITS)).astype(np.uint16).view(dtype.numpy).astype(np.float64)
        values *= 1.0  # quiet: hypot(inf, NaN) is inf, of a signalling one NaN, which PyTorch's conversion quiets
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
