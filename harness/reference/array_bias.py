"""By what factor an array is off as a whole, and by what part of a step its errors lean to one side.

Errors of single elements go down with the root of their number and a factor does not. Some honest errors are a factor
too (of a norm, of a constant stored in 16 bits): what a whole is allowed is measured over the noisy runs. A store that
truncates takes half a step whatever the number, a factor the more the farther it is from the power of two below.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import Dtype

#: By how many roundoffs of its dtype an array may be off as a whole where honest answers are not (kernels store a
#: constant in 16 bits), and how many times what noise gives it.
MAX_SLOPE_ROUNDOFFS = 2.0
MAX_SLOPE_SPREADS = 4.0
#: By how many of its standard errors a slope is no chance.
MIN_SLOPE_SIGMAS = 6.0
#: Different numbers of an array that make a whole.
MIN_WHOLE_VALUES = 16
#: Elements of an array whose noisy values are kept.
_MAX_SAMPLED_ELEMENTS = 2**14


def fit_slope(off: Array, values: Array, scale: Array) -> float:
    """The factor less 1 that fits `off` best, each element weighted by what its rounding is; 0 of zeros alone."""
    return _fit_weighted_slope(off, values, scale)[0]


def clear_slope(off: Array, values: Array, scale: Array) -> float:
    """`fit_slope` where what it leaves of `off` could not make it by chance, else 0.

    Kernels that store sums more often than noise knows err more by element, and a few such errors have a slope too.
    """
    fitted, weights = _fit_weighted_slope(off, values, scale)
    with np.errstate(all="ignore"):
        left = np.where(np.isfinite(off), off - fitted * values, 0.0)
        error = float(np.sqrt(np.sum(np.square(weights * left))))
    return fitted if abs(fitted) > MIN_SLOPE_SIGMAS * error else 0.0


def _fit_weighted_slope(off: Array, values: Array, scale: Array) -> tuple[float, Array]:
    """The slope, and the weights by which it is a sum of `off`."""
    with np.errstate(all="ignore"):
        weights = values * np.square(np.nan_to_num(1 / (scale + np.abs(values)), nan=0.0, posinf=0.0))
        fits = np.isfinite(off) & np.isfinite(values)
        total = float(np.sum(weights * values, where=fits))
        if not total > 0:
            return 0.0, np.zeros_like(values)
        weights = np.where(fits, weights / total, 0.0)
        return float(np.sum(weights * off, where=fits)), weights


def sample_elements(values: Array) -> Array:
    """Elements in equal steps, few enough to keep those of every run."""
    flat = values.reshape(-1)
    return flat[:: max(1, -(-flat.size // _MAX_SAMPLED_ELEMENTS))]


def varies(values: Array) -> bool:
    """Whether an array holds enough different numbers, signs apart, to tell anything of a whole."""
    return np.unique(np.abs(values)).size >= MIN_WHOLE_VALUES


def measure_slope_spread(offs: Sequence[Array], values: Array, scale: Array) -> float:
    """The RMS of the slopes of some arrays' errors, each `sample_elements`."""
    x, s = sample_elements(values), sample_elements(scale)
    return float(np.sqrt(np.mean([fit_slope(off, x, s) ** 2 for off in offs]))) if offs else 0.0


def slope_of_a_constant(moved: Sequence[Array], values: Array, scale: Array, u: float) -> float:
    """What a constant gives the whole that is one operand or stands beside it, as a spread.

    `moved` has the changes of `values` by a factor of each operand, divided by that factor less 1, each
    `sample_elements`.
    """
    x, s = sample_elements(values), sample_elements(scale)
    return MAX_SLOPE_ROUNDOFFS / MAX_SLOPE_SPREADS * u * max((abs(fit_slope(m, x, s)) for m in moved), default=0.0)


def is_narrow(values: Any, dtype: Dtype) -> bool:
    """Whether a whole is looked at: real floats of fewer digits than float32."""
    return values is not None and values.dtype.kind == "f" and dtype.narrow


@dataclass(frozen=True)
class RoundingBias:
    """In steps, positive away from zero; `parts` are what each element adds to it by chance."""

    steps: float
    parts: Array
    units: float  # the same in roundoffs of the values, on average


def measure_rounding_bias(off: Array, values: Array, dtype: Dtype) -> RoundingBias | None:
    """Of the errors `off` of finite `values` that are not 0; None where all have one mantissa."""
    fraction, exponent = np.frexp(np.abs(values))  # from a half to 1
    beside = fraction - fraction.mean()
    total = float(np.sum(beside * beside))
    if not total > 0:
        return None
    steps = np.sign(values) * off / np.ldexp(2 * dtype.u, exponent - 1)
    weights = 1 / values.size - beside * fraction.mean() / total
    found = float(np.sum(weights * steps))
    factor = float(np.sum(beside * steps)) / total
    parts = weights * (steps - found - factor * fraction)
    return RoundingBias(found, parts, found * float(np.mean(1 / fraction)))


def bias_of_a_constant(moved: Sequence[Array], values: Array, dtype: Dtype) -> float:
    """By how many steps a constant that is stored in `dtype` has an array lean that stands beside an operand.

    `moved` has the changes of `values` by a factor of each operand, divided by that factor less 1.
    """
    fits = np.isfinite(values) & (np.abs(values) >= dtype.tiny)
    most = 0.0
    for change in moved:
        chosen = fits & np.isfinite(change)
        found = measure_rounding_bias(dtype.u * change[chosen], values[chosen], dtype) if chosen.any() else None
        most = max(most, 0.0 if found is None else abs(found.steps))
    return most
