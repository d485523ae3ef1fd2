"""Errors in units in the last place, ULP: of each element of an array in its own dtype, and the worst of them.

The ULP of a number is the distance of the two numbers of the dtype between which it lies; of a power of two that of the
larger side (Goldberg), or of the smaller one where that is asked for (as OpenCL has it). Below the smallest normal
number it is the smallest subnormal one, at 0 too. Above the largest number it is that of the last binade: infinity
counts as the number that would come next, where a number is expected. NaN for NaN and infinity for the same infinity
are no error, and any other pair with one of them is an infinite one.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from opproof.core.dtypes import DTYPES, Dtype

Floats = NDArray[np.float64]
#: The largest error of a tensor, and its index.
WorstUlp: TypeAlias = tuple[float, tuple[int, ...]]

#: Exponent bits of a float64: what is left of its pattern is the power of two below it.
_EXPONENT_BITS = np.int64(0x7FF0000000000000)
#: Rounding to nearest errs by so many ULP at most: who is right so is right, whatever the bound says.
HALF = 0.5


def measure_ulp(values: Floats, dtype: Dtype, *, smaller_side: bool = False) -> Floats:
    """The ULP of `dtype` at each of the `values`; at powers of two that of the numbers above, or below."""
    powers = np.abs(values, out=np.empty_like(values))
    bits = powers.view(np.int64)
    if smaller_side:
        np.maximum(bits - 1, 0, out=bits)
    np.bitwise_and(bits, _EXPONENT_BITS, out=bits)
    np.minimum(powers, 2.0**dtype.max_exponent, out=powers)
    np.multiply(powers, 2.0 ** (1 - dtype.digits), out=powers)
    return np.maximum(powers, dtype.subnormal, out=powers)


def measure_errors(got: NDArray[Any], values: Floats, dtype: Dtype) -> Floats:
    """How far each element is from what is expected, infinities counted as the number that would come next."""
    with np.errstate(all="ignore"):
        value = np.asarray(got, dtype=np.float64)
        error = np.asarray(value - values)
        np.abs(error, out=error)
        sizes = np.abs(values)
        if np.isfinite(np.max(error, initial=0.0)) and np.max(sizes, initial=0.0) <= dtype.max:
            return error
        beyond = sizes > dtype.max
        next_one = 2.0 ** (dtype.max_exponent + 1) if dtype.max_exponent < 1023 else np.inf
        reached = np.isnan(value) & beyond if not dtype.has_infinity else np.zeros(value.shape, dtype=bool)
        finite = np.isfinite(values)
        value = np.where(reached, np.copysign(next_one, values), value)
        value = np.where(finite, np.clip(value, -next_one, next_one), value)
        expected = np.where(finite, np.clip(values, -next_one, next_one), values)
        same = (value == expected) | (np.isnan(value) & np.isnan(expected))
        error = np.where(same, 0.0, np.abs(value - expected))
        return np.where(np.isnan(error), np.inf, error)


def find_worst_ulp(
    got: NDArray[Any], values: NDArray[Any], dtype: str, passed: NDArray[np.bool_], bound: Floats
) -> WorstUlp | None:
    """The largest error in ULP and its index; None of what is no float, or empty.

    An element that `passed` though it is neither within its `bound` nor within half an ULP is right for another reason,
    as on the other side of a kink or flushed to zero: its distance from the reference's number is no error.
    """
    kind = DTYPES.get(dtype)
    if kind is None or kind.whole or values.dtype != np.float64 or not values.size:
        return None
    error = measure_errors(got, values, kind)
    with np.errstate(over="ignore"):  # of float64: so many ULP are no number
        ulps = np.asarray(error / measure_ulp(values, kind))
    worst = int(np.argmax(ulps))
    if passed.flat[worst] and error.flat[worst] > bound.flat[worst]:  # hardly ever
        ulps[passed & (error > bound) & (ulps > HALF)] = 0.0
        worst = int(np.argmax(ulps))
    return float(ulps.flat[worst]), tuple(int(i) for i in np.unravel_index(worst, ulps.shape))
