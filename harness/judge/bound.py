"""Got against expected, element by element: one bound, one constant, every comparison fails closed.

    |got - expected|  <=  C u(dtype) (scale + |expected|) + floor

`units` is (|got - expected| - floor) / (u (scale + |expected|)), so a value passes up to C units.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from opproof.harness.truth.reference import Expected
from opproof.vocabulary.arrays import Array
from opproof.vocabulary.dtypes import DTYPES, Dtype, round_to

#: The one constant of the bound, in units of honest rounding. Set by a soak (docs/soak.md).
C = 16.0


@dataclass(frozen=True)
class Comparison:
    """Per element: the error in units, the bound, and whether it passes.

    Units are at most C where it passes, more where it does not, and inf where no number says how far.
    """

    units: NDArray[np.float64]
    bound: NDArray[np.float64]
    passed: NDArray[np.bool_]

    @property
    def worst(self) -> tuple[int, ...] | None:
        """Index of the largest error, a failing element where there is one; None for an empty array."""
        if not self.units.size:
            return None
        return tuple(int(i) for i in np.unravel_index(int(np.argmax(self.units)), self.units.shape))


def floor_of(dtype: Dtype) -> float:
    """Absolute error always allowed: the spacing of subnormals, stored and interior."""
    return dtype.subnormal + (DTYPES["f32"].tiny if dtype.digits < 24 else 4 * dtype.tiny * dtype.u)


def bound_of(expected: Expected, dtype: Dtype) -> NDArray[np.float64]:
    """The bound of every element; zero where the array is to be met bit for bit."""
    if expected.exact:
        return np.zeros(expected.values.shape)
    return C * (dtype.u * (expected.scale + np.abs(expected.values))) + floor_of(dtype)


def compare(got: Array, expected: Expected, dtype: str, *, strict_subnormals: bool = False) -> Comparison:
    """Compare arrays of one shape; `got` in its own dtype, `expected` in float64 (or int64, bool)."""
    if expected.values.dtype.kind != "f":
        same = np.asarray(got == expected.values)
        return Comparison(np.where(same, 0.0, np.inf), np.zeros(same.shape), same)
    kind = DTYPES[dtype]
    with np.errstate(all="ignore"):
        value = np.asarray(got, dtype=np.float64)
        rounded = round_to(expected.values, kind)
        error = np.abs(value - expected.values)
        honest = kind.u * (expected.scale + np.abs(expected.values))
        floor = 0.0 if expected.exact else floor_of(kind)
        bound = bound_of(expected, kind)
        excess = np.maximum(error - floor, 0.0)
        units = np.where(excess > 0, excess / honest, 0.0)
        equal = (value == rounded) | (np.isnan(value) & np.isnan(rounded))
        passed = np.isfinite(error) & np.isfinite(bound) & (error <= bound)
        if not expected.exact:
            passed |= _overflows(value, expected.values, bound, kind)
        if not strict_subnormals:
            flushed = (value == 0) & (np.abs(expected.values) <= kind.tiny)
            passed, units = passed | flushed, np.where(flushed, 0.0, units)
    passed |= equal
    units = np.where(passed, np.where(units <= C, units, 0.0), np.where(units > C, units, np.inf))
    return Comparison(units, np.where(np.isfinite(bound), bound, 0.0), passed)


def _overflows(value: Array, expected: Array, bound: Array, dtype: Dtype) -> NDArray[np.bool_]:
    """Infinities of the right sign where honest rounding may carry a finite value past the largest one."""
    largest = dtype.max * (1 + dtype.u / 2)
    reaches = np.isfinite(expected) & (np.abs(expected) + bound >= largest)
    return reaches & np.isinf(value) & (np.sign(value) == np.sign(expected))  # type: ignore[no-any-return]
