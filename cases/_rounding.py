"""Numbers at which rounding is easily done wrong: midpoints of fewer digits and their neighbours, decimals."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from opproof.cases._case import Shape
from opproof.core.dtypes import DTYPES, Dtype, round_to

Floats = NDArray[np.float64]
Bits = Callable[[int], NDArray[np.uint64]]
Choice = Callable[[Bits, Shape, NDArray[np.float64]], Floats]

#: Significant digits of f8e5m2, f8e4m3, bf16 and f16.
_DIGITS = (3, 4, 8, 11)
#: Of each so many midpoints, at so many powers of two: in the normal range of all of them.
_EACH, _POWERS = 4, 3


def midpoints(choice: Choice) -> Callable[[Bits, Shape, Dtype], Floats]:
    """Halfway between numbers of fewer digits, and a roundoff (of float32 at least) below and above.

    To even is right at the first; whoever rounds twice, to 16 bits and then to 8, takes the others for it.
    """
    return lambda bits, shape, dtype: choice(bits, shape, _midpoints(dtype))


@functools.cache
def _midpoints(dtype: Dtype) -> Floats:
    found, beside = set[float](), max(dtype.u, DTYPES["f32"].u)
    for digits in _DIGITS:
        for odd in np.linspace(2**digits + 1, 2 ** (digits + 1) - 1, _EACH).round() // 2 * 2 + 1:
            for power in range(_POWERS):
                middle = odd / 2.0**digits * 2.0**power
                found |= {middle + k * beside * 2.0**power for k in (-2, 0, 2)}
    values = np.array(sorted(v for v in found if float(round_to(np.array(v), dtype)) == v))
    return np.concatenate([-values, values])


def tenths(choice: Choice) -> Callable[[Bits, Shape, Dtype], Floats]:
    """A tenth to three of both signs, few of which are numbers of the dtype: 1 / 0.1 is below 10, and rounds to it."""
    tens = np.array([s * k / 10 for s in (1, -1) for k in range(1, 31)])
    return lambda bits, shape, dtype: np.asarray(round_to(choice(bits, shape, tens), dtype))
