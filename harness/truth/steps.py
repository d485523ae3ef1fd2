"""By what part of a step of their dtype the errors of an array lean to one side, beside what a factor does.

A store that truncates takes half a step, whatever the number. A factor takes the more of a step the farther the number
is from the power of two below it: so the two are told apart, and a constant that is stored in 16 bits is a factor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import Dtype


@dataclass(frozen=True)
class Leaning:
    """In steps, positive away from zero; `parts` are what each element adds to it by chance."""

    steps: float
    parts: Array
    units: float  # the same in roundoffs of the values, on average


def leaning(off: Array, values: Array, dtype: Dtype) -> Leaning | None:
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
    return Leaning(found, parts, found * float(np.mean(1 / fraction)))


def of_a_constant(moved: Sequence[Array], values: Array, dtype: Dtype) -> float:
    """By how many steps a constant that is stored in `dtype` has an array lean that stands beside an operand.

    `moved` has the changes of `values` by a factor of each operand, divided by that factor less 1.
    """
    fits = np.isfinite(values) & (np.abs(values) >= dtype.tiny)
    most = 0.0
    for change in moved:
        chosen = fits & np.isfinite(change)
        found = leaning(dtype.u * change[chosen], values[chosen], dtype) if chosen.any() else None
        most = max(most, 0.0 if found is None else abs(found.steps))
    return most
