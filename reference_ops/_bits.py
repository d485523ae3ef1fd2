"""Integers whose bits are the data: int64 of 32 bits, which every library has, or of a case's own dtype.

The reference holds the latter in float64, which has a place for every one of 32 bits.
"""

from collections.abc import Callable

import numpy as np

from opproof.core.arrays import Array, Whole

WHOLE = Whole(range(-(2**31), 2**31))


def on_bits(function: Callable[..., Array], *tensors: Array) -> Array:
    """`function` of the tensors as int64; of the first one's dtype."""
    whole = [t.astype(np.int64) for t in tensors]
    return np.asarray(function(*whole), dtype=tensors[0].dtype)


def unsigned(whole: Array) -> Array:
    """The 32 bits of integers in two's complement as numbers that are not negative."""
    return whole & 0xFFFFFFFF
