"""What holds of an answer's arrays as a whole: RMS and mean of their units, how they were rounded, how many digits.

Every element may be within its bound and all be wrong together: times 1.004 in bf16, or truncated where storing should
round. Independent errors go down with the root of their number, so the array as a whole is held to less. Numbers of a
float16 kernel that keeps something in bfloat16 end in three zero bits, as those of an honest one do by chance alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, TRUNCATE, Dtype, round_to
from opproof.harness.judge.bound import SAVED, STORED, C, Comparison
from opproof.harness.reference.array_bias import (
    MAX_SLOPE_ROUNDOFFS,
    MAX_SLOPE_SPREADS,
    MIN_WHOLE_VALUES,
    clear_slope,
    measure_rounding_bias,
    varies,
)
from opproof.harness.reference.question import Expected

#: Results that a store could round to either side, at least so many different ones, tell how it does; by
#: so many units, and so many standard errors, may their mean be off.
MIN_DISTINCT_RESULTS = 256
MAX_LEAN_UNITS = 0.3
MIN_LEAN_SIGMAS = 8.0
#: Of the scale that a saved output makes, in sizes of the result, where results still tell: each errs for itself.
MAX_SAVED_SCALE = 2.0
#: The same of independent slices: so many tell, whose elements share the error of what was saved.
MIN_INDEPENDENT_SLICES = 64
MAX_SHARED_SCALE = 8.0
#: From so many elements on a slice may share the error of one long sum, which can be several units of each of them.
#: Where fewer such slices than MIN_WHOLE_VALUES vary within themselves by less than a half of their mean, they do.
LONG_SLICE = 2**14
MAX_SHARED_DEVIATION = 0.5
#: The same where 16-bit intermediates are declared: results of so many mantissas, with noise of so many sizes of theirs
#: at most. Numbers of float16 times a constant have 1024, and their roundings follow one another in order.
MIN_STORED_MANTISSAS = 2000
MAX_NOISE_SIZES = 8.0
#: Fills whose slices are like each other in nothing.
ORDINARY_FILLS = frozenset({"normal", "wide"})


def measure_lean(
    got: NDArray[np.float64], values: Array, nearest: Array, mask: NDArray[np.bool_], dtype: str
) -> float | None:
    """By how many units results are off on average from those rounded to nearest; 0.0 if not clearly, None if too few.

    Where storing is most of what is rounded. Each value once: a constant that fills an array is rounded to the same
    side everywhere. None that lies in the middle of two numbers: either is the nearest.
    """
    chosen = mask & np.isfinite(nearest) & ~_in_the_middle(values, nearest, dtype)
    if np.count_nonzero(chosen) < MIN_DISTINCT_RESULTS:
        return None
    values, places = np.unique(values[chosen], return_index=True)
    if values.size < MIN_DISTINCT_RESULTS:
        return None
    off = np.sign(values) * (got[chosen][places] - nearest[chosen][places]) / (DTYPES[dtype].u * np.abs(values))
    return _clear(off)


def _in_the_middle(values: Array, nearest: Array, dtype: str) -> NDArray[np.bool_]:
    """Whether a value is as far from the next number of its dtype as from the nearest, to a hundredth of a step."""
    with np.errstate(all="ignore"):
        step = np.ldexp(2 * DTYPES[dtype].u, np.frexp(values)[1] - 1)
        near: NDArray[np.bool_] = np.abs(values - nearest) > 0.49 * step
        return near


def measure_lean_beside_factor(
    got: NDArray[np.float64], expected: Expected, mask: NDArray[np.bool_], dtype: str, slices: NDArray[np.intp]
) -> float | None:
    """The same where 16-bit intermediates are declared, and a constant that is one may move the whole by a unit.

    `got` and `slices` are of the shape of what is expected; elements of one slice may share errors. None where too few
    elements, or slices, tell.
    """
    kind = DTYPES[dtype]
    near = np.abs(expected.values) >= np.maximum(expected.scale / MAX_NOISE_SIZES, kind.tiny)
    values, places = np.unique(expected.values[mask & near], return_index=True)
    if np.unique(np.frexp(np.abs(values))[0]).size < MIN_STORED_MANTISSAS:
        return None
    found = measure_rounding_bias(got[mask & near][places] - values, values, kind)
    _, numbers = np.unique(slices[mask & near][places], return_inverse=True)
    if found is None or np.max(numbers) + 1 < MIN_INDEPENDENT_SLICES:
        return None
    error = float(np.sqrt(np.sum(np.square(np.bincount(numbers, found.parts)))))
    clear = abs(found.steps) > MAX_LEAN_UNITS + (expected.leaning or 0.0) and abs(found.steps) > MIN_LEAN_SIGMAS * error
    return found.units if clear else 0.0


def lean_of_slices(
    got: Array, expected: Expected, comparison: Comparison, dtype: str, alone: tuple[int, ...]
) -> float | None:
    """The same of the means of slices along the axes `alone`; None where those are too few.

    What is saved by row errs once for all of the row, to either side: the rows together lean to none.
    """
    values, u = expected.values, DTYPES[dtype].u
    with np.errstate(all="ignore"):
        off = np.sign(values) * (np.asarray(got, dtype=np.float64) - values) / (u * np.abs(values))
    counts = np.isfinite(comparison.signed) & np.isfinite(off) & (expected.scale <= MAX_SHARED_SCALE * np.abs(values))
    within = tuple(k for k in range(values.ndim) if k not in {a % values.ndim for a in alone})
    number = np.sum(counts, axis=within)
    means = np.sum(np.where(counts, off, 0.0), axis=within)[number > 0] / number[number > 0]
    return _clear(np.unique(means)) if np.unique(means).size >= MIN_INDEPENDENT_SLICES else None


def _clear(off: NDArray[np.float64]) -> float:
    mean, error = float(np.mean(off)), float(np.std(off)) / np.sqrt(off.size)
    return 0.0 if abs(mean) <= MAX_LEAN_UNITS or abs(mean) <= MIN_LEAN_SIGMAS * error else mean


#: The most that the RMS of an array's units, and the mean of its signed units, may be
#: (docs/explanation/false-alarms.md).
RMS = 3.0
BIAS = 2.5
#: All that the bound is made of, as headers name it.
CONSTANTS = {"C": C, "stored": STORED, "saved": SAVED, "rms": RMS, "bias": BIAS}


class Rounding(StrEnum):
    """How results are stored."""

    UNKNOWN = ""
    NEAREST = "nearest"
    TRUNCATE = TRUNCATE  # towards zero
    AWAY = "away"  # from zero


@dataclass(frozen=True)
class ArrayStatistics:
    """Of one array; None where it has too few elements that count."""

    rms: float | None = None  # of the units
    bias: float | None = None  # the mean of the signed units, positive away from zero
    factor: float | None = None  # the median of got / expected, where the bias is too large
    rounding: Rounding = Rounding.UNKNOWN
    lean: float = 0.0  # by how many units results are off on average from what rounding to nearest gives, if clearly
    most: float = RMS  # that the RMS may be
    slope: float = 0.0  # the factor less 1 by which the whole is off, where that is more than `steepest`
    steepest: float = 0.0
    digits: int = 0  # that its numbers have, where those are clearly fewer than the dtype's
    moved: float = 0.0  # the mean of signed units where the truth is a number of the dtype, if it is clearly not 0

    def fault(self, declared: str | None = None, *, declarable: bool = True) -> str:
        """What is wrong with the whole, or with how it is stored where the backend has not `declared` it."""
        return self.objection or self.find_misrounding(declared, declarable=declarable)

    @property
    def objection(self) -> str:
        """What is wrong with the whole, though each element may pass; empty where nothing is."""
        if self.rms is None or self.bias is None:
            return ""
        within = "every element is within its bound, but"
        if self.factor is not None:
            how = "large" if self.bias > 0 else "small"
            return (
                f"{within} all are {abs(self.factor - 1):.2g} of their size too {how} together: "
                f"{abs(self.bias):.2g} units on average, at most {BIAS:g} are allowed"
            )
        if self.slope:
            how = "large" if self.slope > 0 else "small"
            return (
                f"{within} the whole is {abs(self.slope):.2g} of its size too {how}, "
                f"at most {self.steepest:.2g} are allowed"
            )
        if self.rms > self.most:
            return f"{within} their RMS is {self.rms:.2g} units, at most {self.most:g} are allowed"
        if self.digits:
            return f"{within} none of its numbers has more than {self.digits} digits{_those_of(self.digits)}"
        if self.moved:
            how = "large" if self.moved > 0 else "small"
            return f"{within} numbers that need no rounding are {abs(self.moved):.2g} units too {how} on average"
        return ""

    @property
    def is_stored_well(self) -> bool:
        """Whether results are rounded to nearest, as far as one can tell, with all their digits and to no side."""
        return self.rounding in (Rounding.UNKNOWN, Rounding.NEAREST) and not self.digits and not self.moved

    def without_bias(self, allowed: float) -> ArrayStatistics:
        """The same where the bias is no fault if it is at most `allowed`: what is left is judged by its RMS."""
        if self.factor is None or self.rms is None or self.bias is None or abs(self.bias) > allowed:
            return self
        return replace(self, factor=None, rms=math.sqrt(max(self.rms**2 - self.bias**2, 0.0)))

    def find_misrounding(self, declared: str | None, *, declarable: bool = True) -> str:
        """What is wrong with how results are stored; empty where nothing is, or the backend `declared` it.

        `declarable`: whether who reads this has a way to declare it, as the adapter of a backend has.
        """
        if self.rounding in (Rounding.UNKNOWN, Rounding.NEAREST, declared):
            return ""
        within, size = "every element is within its bound, but results are", f"{abs(self.lean):.2g} units"
        if self.rounding is Rounding.AWAY:
            return f"{within} {size} too large on average, as if rounded away from zero: round to nearest"
        how = f"rounded towards zero (truncated), {size} too small on average"
        said = f"{within} {how}: round to nearest"
        return f'{said}, or declare rounding -> "{self.rounding}"' if declarable else said


#: Of an answer without floats enough.
NO_STATISTICS = ArrayStatistics()


def measure_array(
    got: Array,
    expected: Expected,
    comparison: Comparison,
    dtype: str,
    alone: tuple[int, ...] = (),
    *,
    repeated: bool = False,
    saves_few: bool = False,
) -> ArrayStatistics:
    """The figures of one array, over its elements that count; slices along the axes `alone` err for themselves.

    `repeated`: an input holds the same slice again and again, so that what is lost in one is lost in all, and elements
    that differ may still be one error: of a gradient that sums such rows, each row of the result is. Of those an array
    that errs more than independent errors would tells nothing, and none tells to which side its store rounds.

    `saves_few`: what is saved for a gradient holds few different numbers, so that thousands of elements share a dozen
    roundings of it, which may lean to one side.
    """
    counts = np.isfinite(comparison.signed)
    signed = comparison.signed[counts]
    if signed.size < MIN_WHOLE_VALUES:
        return NO_STATISTICS
    values, given = expected.values[counts], np.asarray(got, dtype=np.float64)[counts]
    rms, bias = _compute_moments(signed)
    most = RMS if expected.stored is None else expected.stored
    if rms > most or abs(bias) > BIAS:  # that may be one error, where values repeat
        _, places = np.unique(np.abs(values), return_index=True)
        if repeated or places.size < MIN_WHOLE_VALUES or _shares_few_errors(comparison.signed):
            return NO_STATISTICS
        rms, bias = _compute_moments(signed[places])
    rounding, leaning, moved = Rounding.UNKNOWN, 0.0, 0.0
    if not repeated and not saves_few and expected.faithful and (signed.size >= MIN_DISTINCT_RESULTS or alone):
        clear = np.abs(values) > 8 * expected.scale[counts]
        nearest = round_to(values, DTYPES[dtype])
        open_, held = (
            measure_lean(given, values, nearest, clear & m, dtype) for m in (nearest != values, nearest == values)
        )
        if open_ is None and expected.each:
            near = expected.scale[counts] <= MAX_SAVED_SCALE * np.abs(values)
            open_ = measure_lean(given, values, values, near, dtype)
        if open_ is None and alone:
            open_ = lean_of_slices(got, expected, comparison, dtype, alone)
        rounding, leaning = _classify_rounding(open_), open_ or 0.0
        moved = held if held is not None else 0.0
    elif not repeated and not saves_few and expected.leaning is not None and (expected.each or alone):
        whole = np.asarray(got, dtype=np.float64)
        open_ = measure_lean_beside_factor(
            whole, expected, counts, dtype, _number_slices(values=expected.values, alone=alone)
        )
        rounding, leaning = _classify_rounding(open_), open_ or 0.0
    factor = float(np.median(given / values)) if abs(bias) > BIAS else None
    steepest = math.inf if repeated else _limit_slope(values, expected.spread, DTYPES[dtype].u)
    steep = clear_slope(given - values, values, expected.scale[counts]) if math.isfinite(steepest) else 0.0
    return ArrayStatistics(
        rms=rms, bias=bias, factor=factor, rounding=rounding, lean=leaning, moved=moved, most=most,
        slope=steep if abs(steep) > steepest else 0.0, steepest=steepest,
        digits=count_fewer_digits(given, values, expected.scale[counts], DTYPES[dtype]),
    )  # fmt: skip


def _shares_few_errors(signed: Array) -> bool:
    """Whether an array is a few long slices along one axis, each of them off by about one number of units."""
    axis = int(np.argmax(signed.shape)) if signed.ndim else 0
    if not signed.ndim or signed.shape[axis] < LONG_SLICE or signed.size // signed.shape[axis] >= MIN_WHOLE_VALUES:
        return False
    some = np.ma.masked_invalid(signed)
    return bool(np.ma.allequal(some.std(axis) <= MAX_SHARED_DEVIATION * abs(some.mean(axis)), True))


def _those_of(digits: int) -> str:
    """The dtype that has so many, in words."""
    names = [d.name for d in DTYPES.values() if not d.whole and d.digits == digits]
    return f", those of {names[0]}" if names else ""


def _number_slices(values: Array, alone: tuple[int, ...]) -> NDArray[np.intp]:
    """For each element the number of its slice along the axes `alone`; its own number where there are none."""
    kept = [n if not alone or k in {a % values.ndim for a in alone} else 1 for k, n in enumerate(values.shape)]
    return np.broadcast_to(np.arange(math.prod(kept)).reshape(kept), values.shape)


def _limit_slope(values: Array, spread: float | None, u: float) -> float:
    """By what factor the whole may be off; any where that is not measured, or too few values differ.

    Any too where it were more than the whole itself: sums that are 0 but for their rounding have no size.
    """
    if spread is None or not varies(values):
        return math.inf
    most = max(MAX_SLOPE_ROUNDOFFS * u, MAX_SLOPE_SPREADS * spread)
    return most if most < 1 else math.inf


def _compute_moments(signed: NDArray[np.float64]) -> tuple[float, float]:
    return math.sqrt(np.add.reduce(np.square(signed)) / signed.size), float(np.add.reduce(signed)) / signed.size


def _classify_rounding(lean: float | None) -> Rounding:
    if lean is None:
        return Rounding.UNKNOWN
    return Rounding.NEAREST if lean == 0 else Rounding.AWAY if lean > 0 else Rounding.TRUNCATE


#: Zero bits at the end of every number that are no chance: what float16 has more than bfloat16.
_MIN_ZERO_BITS = 3
#: Different numbers that are expected off the grid, and answered on it.
_MIN_OFF_GRID_VALUES = 16
#: An element tells where its noise is below this share of the grid's step. What cancels k bits lies on a grid of 2^k
#: for good reason: noise, a whole unit of what is stored, is half such a step there at least.
_MAX_NOISE_STEP_SHARE = 1 / 4


def count_fewer_digits(given: Array, values: Array, scale: Array, kind: Dtype) -> int:
    """How many digits the answer's numbers have at most, where that is no chance; 0 where they may have all of `kind`.

    `given` and `values`, what is expected, are float64 and flat; `scale` is in units of u(kind).
    """
    zeros = _count_zero_bits(given, kind)
    tells = zeros >= _MIN_ZERO_BITS and _count_off(values, scale, kind, zeros) >= _MIN_OFF_GRID_VALUES
    return kind.digits - zeros if tells else 0


def _count_zero_bits(values: Array, kind: Dtype) -> int:
    """At the end of every number's digits, the least of all; 0 where no number is told apart from 0."""
    normal = np.abs(values[np.abs(values) >= kind.tiny])
    digits = (np.frexp(normal)[0] * 2.0**kind.digits).astype(np.int64)
    every = int(np.bitwise_or.reduce(digits))
    return (every & -every).bit_length() - 1 if every else 0


def _count_off(values: Array, scale: Array, kind: Dtype, zeros: int) -> int:
    """How many different numbers are expected a quarter of a step and more off the grid, with noise that is less."""
    with np.errstate(all="ignore"):
        step = np.ldexp(2.0**zeros * kind.u, np.frexp(values)[1])
        off = np.abs(values - np.rint(values / step) * step)
        tells = (np.abs(values) >= kind.tiny) & (off >= step / 4) & (scale * kind.u <= _MAX_NOISE_STEP_SHARE * step)
    return int(np.unique(values[tells]).size)
