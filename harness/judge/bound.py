"""Got against expected, element by element: one bound for every operator, dtype and backend; comparisons fail closed.

    |got - expected|  <=  u(dtype) (C scale + c |expected|) + floor

c is what storing the result may cost: STORED where interior arithmetic is more precise than the dtype, C where it is
not. There, what moves an element that is computed for itself by about its own size is a saved output, which was
rounded once: that part of scale counts SAVED times. `units` is (|got - expected| - floor) / (u (scale + |expected|)):
1 is as good as it gets, and `limit`, between c and C, is how many of them an element may have. What holds of arrays as
a whole is in figures.py.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from opproof.harness.truth.reference import Expected
from opproof.vocabulary.arrays import Array
from opproof.vocabulary.dtypes import DTYPES, Dtype, Kind, round_to

#: Units of honest rounding that an element may be off for what was computed before it was stored (docs/soak.md).
C = 16.0
#: Units that storing may cost where interior arithmetic is more precise than the dtype: any faithful rounding.
STORED = 2.0
#: The same of scale up to SPAN times the value, where a saved output makes it (docs/method.md).
SAVED = 5.0
SPAN = 2.0
#: Zero is right up to so many times the least normal number, where subnormal numbers may be flushed.
FLUSHED = 4.0


@dataclass(frozen=True)
class Comparison:
    """Per element: the error in units, how many are allowed, the bound, and whether it passes.

    Units are at most `limit` where it passes, more where it does not, and inf where no number says how far. `signed`
    has units too: positive away from zero, and nan where an element does not count in figures of the whole array.
    """

    units: NDArray[np.float64]
    limit: NDArray[np.float64]
    bound: NDArray[np.float64]
    passed: NDArray[np.bool_]
    signed: NDArray[np.float64]

    @property
    def shares(self) -> NDArray[np.float64]:
        """The error as a share of what is allowed: above 1 where an element fails."""
        share = np.divide(self.units, self.limit, out=np.zeros_like(self.units), where=self.limit > 0)
        return np.where(self.passed, np.minimum(share, 1.0), np.where(share > 1, share, np.inf))

    @property
    def worst(self) -> tuple[int, ...] | None:
        """Index of the largest share, a failing element where there is one; None for an empty array."""
        if not self.units.size:
            return None
        return tuple(int(i) for i in np.unravel_index(int(np.argmax(self.shares)), self.units.shape))

    def excusing(self, mask: NDArray[np.bool_]) -> Comparison:
        """The same with the elements of `mask` right for another reason than the bound."""
        if not mask.any():
            return self
        signed = np.where(mask, np.nan, self.signed)
        return replace(self, units=np.where(mask, 0.0, self.units), passed=self.passed | mask, signed=signed)


def floor_of(dtype: Dtype) -> float:
    """Absolute error always allowed: the spacing of subnormals, stored and interior."""
    return dtype.subnormal + (DTYPES["f32"].tiny if dtype.digits < 24 else 4 * dtype.tiny * dtype.u)


def bound_of(expected: Expected, dtype: Dtype) -> NDArray[np.float64]:
    """The bound of every element; zero where the array is to be met bit for bit."""
    if expected.exact:
        return np.zeros(expected.values.shape)
    # By u first: 16 times the largest numbers of f64 is infinite.
    rounding, stored = dtype.u * expected.scale, dtype.u * np.abs(expected.values)
    allowed = _computed(expected, rounding, stored) + stored_of(expected) * stored + floor_of(dtype)
    return np.where(held_of(expected, dtype), 0.0, allowed)


def _computed(expected: Expected, scale: Array, size: Array) -> NDArray[np.float64]:
    """What computing may cost, of a scale and a size in the same units."""
    whole: NDArray[np.float64] = C * scale
    if not (expected.each and expected.faithful):
        return whole
    return whole - (C - SAVED) * np.minimum(scale, SPAN * size)


def held_of(expected: Expected, dtype: Dtype) -> NDArray[np.bool_]:
    """Which elements are to be met exactly: storing changes no number of the dtype, and nothing else rounds them.

    floor(7 / 2) is 3 in every format; 2.998, which is 2 units of bf16 away, is no whole number at all.
    """
    values = expected.values
    if not expected.held:
        return np.zeros(values.shape, dtype=bool)
    whole: NDArray[np.bool_] = (expected.scale == 0) & (np.abs(values) >= dtype.tiny)
    return whole & (round_to(values, dtype) == values) if whole.any() else whole


def stored_of(expected: Expected) -> float:
    """Units per |expected| that an element may be off."""
    return STORED if expected.faithful else C


def compare(got: Array, expected: Expected, dtype: str, *, strict_subnormals: bool = False) -> Comparison:
    """Compare arrays of one shape; `got` in its own dtype, `expected` in float64 (or int64, bool)."""
    if expected.values.dtype.kind != "f" or DTYPES[dtype].whole:
        same, none = np.asarray(got == expected.values), np.zeros(expected.values.shape)
        return Comparison(np.where(same, 0.0, np.inf), none, none, same, np.full(none.shape, np.nan))
    kind = DTYPES[dtype]
    with np.errstate(all="ignore"):
        value = np.asarray(got, dtype=np.float64)
        rounded = round_to(expected.values, kind)
        size = np.abs(expected.values)
        error = np.abs(value - expected.values)
        honest = kind.u * (expected.scale + size)
        bound = bound_of(expected, kind)
        limit = _limit(expected, kind)
        excess = np.maximum(error - (0.0 if expected.exact else floor_of(kind)), 0.0)
        units = np.where(excess > 0, excess / honest, 0.0)
        equal = (value == rounded) | (np.isnan(value) & np.isnan(rounded))
        within = np.isfinite(error) & np.isfinite(bound) & (error <= bound)
        passed = within
        if not expected.exact:
            passed = passed | _overflows(value, expected.values, bound, kind)
        if not strict_subnormals:
            flushed = _flushed(value, expected, kind)
            passed, units = passed | flushed, np.where(flushed, 0.0, units)
        signed = np.sign(expected.values) * (value - expected.values) / honest
        counts = np.isfinite(signed) & (size >= kind.tiny) & (value != 0) & (not expected.exact)
        over = np.where(np.isfinite(units) & ~np.isnan(error), np.maximum(units, np.nextafter(limit, np.inf)), np.inf)
        units = np.where(within, np.minimum(units, limit), np.where(passed | equal, 0.0, over))
    passed = passed | equal
    bound = np.where(np.isfinite(bound), bound, 0.0)
    return Comparison(units, limit, bound, passed, np.where(counts, signed, np.nan))


def far_off(got: Array, expected: Expected, dtype: str) -> bool:
    """Whether an element is so plainly wrong that no rule of `compare` passes it; quick, and False where in doubt."""
    if expected.values.dtype.kind != "f" or DTYPES[dtype].whole:
        return bool(np.any(got != expected.values))
    kind = DTYPES[dtype]
    with np.errstate(all="ignore"):
        value, size = np.asarray(got, dtype=np.float64), np.abs(expected.values)
        beyond = np.abs(value - expected.values) > bound_of(expected, kind) + 2 * kind.u * size
        return bool(np.any(beyond & (size > FLUSHED * kind.tiny) & (size < kind.max / 2) & np.isfinite(value)))


def _limit(expected: Expected, dtype: Dtype) -> NDArray[np.float64]:
    """The units that the bound allows each element: C of scale, c of |expected|."""
    size = np.abs(expected.values)
    if expected.exact:
        return np.zeros(size.shape)
    honest = expected.scale + size
    part = np.divide(expected.scale, honest, out=np.ones_like(size), where=honest > 0)
    units = _computed(expected, part, 1 - part) + stored_of(expected) * (1 - part)
    return np.where(held_of(expected, dtype), 0.0, np.where(np.isfinite(part), units, C))


def _flushed(value: Array, expected: Expected, dtype: Dtype) -> NDArray[np.bool_]:
    """Zero for a result below the normal range, and a number below it for a truth that is nearer to zero than any.

    Zero up to FLUSHED times the least normal number, since what is flushed may be a part: asin(x) as 2 atan(x / 2).
    In f16 alone the latter would be a lot: its subnormal numbers begin at 6e-5, and float32 arithmetic holds them all.
    In 8 bits either would: nothing that has these numbers flushes them.
    """
    size = np.abs(expected.values)
    if dtype.kind is Kind.FLOAT8:
        return np.zeros(size.shape, dtype=bool)
    if dtype.name == "f16":
        return (value == 0) & (size <= dtype.tiny)  # type: ignore[no-any-return]
    flushed = (value == 0) & (size <= FLUSHED * dtype.tiny)
    return flushed | ((size < dtype.subnormal) & (np.abs(value) < dtype.tiny))  # type: ignore[no-any-return]


def _overflows(value: Array, expected: Array, bound: Array, dtype: Dtype) -> NDArray[np.bool_]:
    """Infinities of the right sign where honest rounding may carry a finite value past the largest one.

    In 8 bits the largest number is as right, and NaN where there is no infinity: both are in use (OCP 8-bit floating
    point specification, 2023, section 5.2, saturating conversion or not).
    """
    largest = dtype.max * (1 + dtype.u / 2)
    reaches = np.isfinite(expected) & (np.abs(expected) + bound >= largest)
    same = np.sign(value) == np.sign(expected)
    if dtype.kind is Kind.FLOAT8:
        beyond = np.isinf(value) if dtype.has_infinity else np.isnan(value)
        right: NDArray[np.bool_] = (np.isnan(value) & beyond) | (same & (beyond | (np.abs(value) == dtype.max)))
        return reaches & right
    return reaches & np.isinf(value) & same  # type: ignore[no-any-return]
