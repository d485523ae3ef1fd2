"""Got against expected, element by element: one bound for every operator, dtype and backend; comparisons fail closed.

    |got - expected|  <=  u(dtype) (C scale + c |expected|) + floor

c is what storing the result may cost: STORED where interior arithmetic is more precise than the dtype, C where it is
not. There, what moves an element that is computed for itself by about its own size is a saved output, which was
rounded once: that part of scale counts SAVED times. `units` is (|got - expected| - floor) / (u (scale + |expected|)):
1 is as good as it gets, and `limit`, between c and C, is how many of them an element may have. What holds of arrays as
a whole is in array_statistics.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, Dtype, Kind, round_to
from opproof.harness.reference.question import Expected

#: Units of honest rounding that an element may be off for what was computed before it was stored
#: (docs/explanation/false-alarms.md).
C = 16.0
#: Units that storing may cost where interior arithmetic is more precise than the dtype: any faithful rounding.
STORED = 2.0
#: The same of scale up to SPAN times the value, where a saved output makes it (docs/explanation/method.md).
SAVED = 5.0
SPAN = 2.0
#: Zero is right up to so many times the least normal number, where subnormal numbers may be flushed.
FLUSHED = 2.0


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

    @cached_property
    def right(self) -> bool:
        """Whether every element passes."""
        return bool(self.passed.all())

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """The error as a share of what is allowed: above 1 where an element fails."""
        share = np.divide(self.units, self.limit, out=np.zeros_like(self.units), where=self.limit > 0)
        if self.right:
            return np.asarray(np.minimum(share, 1.0))
        return np.where(self.passed, np.minimum(share, 1.0), np.where(share > 1, share, np.inf))

    @cached_property
    def worst(self) -> tuple[int, ...] | None:
        """Index of the largest share, a failing element where there is one; None for an empty array."""
        if not self.units.size:
            return None
        return tuple(int(i) for i in np.unravel_index(int(np.argmax(self.shares)), self.units.shape))

    def with_waived(self, mask: NDArray[np.bool_]) -> Comparison:
        """The same with the elements of `mask` right for another reason than the bound."""
        if not mask.any():
            return self
        signed = np.where(mask, np.nan, self.signed)
        return replace(self, units=np.where(mask, 0.0, self.units), passed=self.passed | mask, signed=signed)


def fails(comparisons: Sequence[Comparison | None]) -> bool:
    """Whether an element of one of them fails; None: not compared."""
    return any(c is not None and not c.right for c in comparisons)


def floor_of(dtype: Dtype, *, strict: bool = False) -> float:
    """Absolute error always allowed: the spacing of subnormals, stored and interior.

    Interior arithmetic of 16-bit dtypes is float32's, and takes what is subnormal there for zero unless `strict`.
    In bf16 that is all that is subnormal in bf16.
    """
    interior = DTYPES["f32"] if dtype.digits < 24 else dtype
    flushed = interior is not dtype and not strict
    return dtype.subnormal + (interior.tiny if flushed else 4 * interior.tiny * interior.u)


def bound_of(expected: Expected, dtype: Dtype, *, strict_subnormals: bool = False) -> NDArray[np.float64]:
    """The bound of every element; zero where the array is to be met bit for bit."""
    size = np.abs(expected.values)
    floor = floor_of(dtype, strict=strict_subnormals)
    return _bound(expected, dtype, size, _find_held(expected, dtype, size), floor)


def _bound(expected: Expected, dtype: Dtype, size: Array, held: Array | None, floor: float) -> NDArray[np.float64]:
    """`bound_of`, of the sizes of the values, which of them are held, and what is always allowed."""
    if expected.exact:
        return np.zeros(size.shape)
    # By u first: 16 times the largest numbers of f64 is infinite.
    rounding, stored = dtype.u * expected.scale, dtype.u * size
    allowed = _bound_computed(expected, rounding, stored) + stored_of(expected) * stored + floor
    return allowed if held is None else np.where(held, 0.0, allowed)


def _bound_computed(expected: Expected, scale: Array, size: Array) -> NDArray[np.float64]:
    """What computing may cost, of a scale and a size in the same units."""
    whole: NDArray[np.float64] = C * scale
    if not (expected.each and expected.faithful):
        return whole
    return whole - (C - SAVED) * np.minimum(scale, SPAN * size)


def _find_held(expected: Expected, dtype: Dtype, size: Array) -> NDArray[np.bool_] | None:
    """Which elements are to be met exactly, None for none: storing changes no number of the dtype, nor does anything.

    floor(7 / 2) is 3 in every format; 2.998, which is 2 units of bf16 away, is no integer at all.
    """
    if not expected.held:
        return None
    whole: NDArray[np.bool_] = (expected.scale == 0) & (size >= dtype.tiny)
    return whole & (round_to(expected.values, dtype) == expected.values) if whole.any() else None


def stored_of(expected: Expected) -> float:
    """Units per |expected| that an element may be off."""
    return STORED if expected.faithful else C


def compare(got: Array, expected: Expected, dtype: str, *, strict_subnormals: bool = False) -> Comparison:
    """Compare arrays of one shape; `got` in its own dtype, `expected` in float64 (or int64, bool)."""
    if expected.values.dtype.kind != "f" or DTYPES[dtype].whole:
        same, none = np.asarray(got == expected.values), np.zeros(expected.values.shape)
        return Comparison(np.where(same, 0.0, np.inf), none, none, same, np.full(none.shape, np.nan))
    kind, values = DTYPES[dtype], expected.values
    with np.errstate(all="ignore"):
        value, size = np.asarray(got, dtype=np.float64), np.abs(values)
        off, total = value - values, expected.scale + size
        error, honest = np.abs(off), kind.u * total
        held = _find_held(expected, kind, size)
        floor = floor_of(kind, strict=strict_subnormals)
        bound, limit = _bound(expected, kind, size, held, floor), _limit(expected, size, total, held)
        bounded = np.isfinite(bound)
        within = bounded & (error <= bound)
        excess = np.maximum(error - (0.0 if expected.exact else floor), 0.0)
        units = np.where(excess > 0, excess / honest, 0.0)
        flushed = None if strict_subnormals else _find_flushed(value, size, kind)
        if flushed is not None:
            units = np.where(flushed, 0.0, units)
        passed = within
        if within.all():
            units = np.minimum(units, limit)
        else:
            over = np.where(
                np.isfinite(units) & ~np.isnan(error), np.maximum(units, np.nextafter(limit, np.inf)), np.inf
            )
            passed = within | _find_otherwise_right(value, expected, bound, kind)
            passed = passed if flushed is None else passed | flushed
            units = np.where(within, np.minimum(units, limit), np.where(passed, 0.0, over))
        counts = (size >= kind.tiny) & (value != 0)
        signed = _sign_units(off, honest, expected, counts if flushed is None else counts & ~flushed)
        bound = np.where(bounded, bound, 0.0)
    return Comparison(*map(np.asarray, (units, limit, bound, passed, signed)))


def _sign_units(off: Array, honest: Array, expected: Expected, counts: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Units away from zero, where they count."""
    if expected.exact:
        return np.full(counts.shape, np.nan)
    signed: NDArray[np.float64] = np.sign(expected.values) * off / honest
    return np.where(counts & np.isfinite(signed), signed, np.nan)


def _find_otherwise_right(value: Array, expected: Expected, bound: Array, kind: Dtype) -> NDArray[np.bool_]:
    """Which elements are right for another reason than the bound: they are what storing makes, or overflow."""
    rounded = round_to(expected.values, kind)
    equal: NDArray[np.bool_] = (value == rounded) | (np.isnan(value) & np.isnan(rounded))
    return equal if expected.exact else equal | _find_overflows(value, expected.values, bound, kind)


def is_clearly_wrong(got: Array, expected: Expected, dtype: str) -> bool:
    """Whether an element is so plainly wrong that no rule of `compare` passes it; quick, and False where in doubt."""
    return make_clearly_wrong_test(expected, dtype)(got)


def make_clearly_wrong_test(expected: Expected, dtype: str) -> Callable[[Array], bool]:
    """`is_clearly_wrong` of many answers, each of the shape of `expected` or one number for all its elements."""
    if expected.values.dtype.kind != "f" or DTYPES[dtype].whole:
        return lambda got: bool(np.any(got != expected.values))
    kind = DTYPES[dtype]
    with np.errstate(all="ignore"):
        size = np.abs(expected.values)
        reach = bound_of(expected, kind) + 2 * kind.u * size
        plain = (size > FLUSHED * kind.tiny) & (size < kind.max / 2)

    def far(got: Array) -> bool:
        with np.errstate(all="ignore"):
            value = np.asarray(got, dtype=np.float64)
            return bool(np.any((np.abs(value - expected.values) > reach) & plain & np.isfinite(value)))

    return far


def _limit(expected: Expected, size: Array, honest: Array, held: Array | None) -> NDArray[np.float64]:
    """The units that the bound allows each element: C of scale, c of |expected|; `honest` is both together."""
    if expected.exact:
        return np.zeros(size.shape)
    part = np.divide(expected.scale, honest, out=np.ones_like(size), where=honest > 0)
    units = _bound_computed(expected, part, 1 - part) + stored_of(expected) * (1 - part)
    limit = np.where(np.isfinite(part), units, C)
    return limit if held is None else np.where(held, 0.0, limit)


def _find_flushed(value: Array, size: Array, dtype: Dtype) -> NDArray[np.bool_] | None:
    """Zero for a subnormal result, and a subnormal for a truth that is nearer to zero than any.

    Zero up to FLUSHED times the least normal number, since what is flushed may be a part: asin(x) as 2 atan(x / 2).
    A part may be left: any subnormal is right that is no larger than such a truth. None for none.
    In f16 alone that would be a lot: its subnormal numbers begin at 6e-5, and float32 arithmetic holds them all. In 8
    bits any of it would: nothing that has these numbers flushes them.
    """
    below = size <= (1 if dtype.name == "f16" else FLUSHED) * dtype.tiny
    if dtype.kind is Kind.FLOAT8 or not below.any():
        return None
    flushed: NDArray[np.bool_] = (value == 0) & below
    if dtype.name == "f16":
        return flushed
    left = np.abs(value) <= np.where(size < dtype.subnormal, dtype.tiny, size)
    return flushed | (below & left & (np.abs(value) < dtype.tiny))


def _find_overflows(value: Array, expected: Array, bound: Array, dtype: Dtype) -> NDArray[np.bool_]:
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
