"""How large a known failure may be: limits, and those that follow from what was seen."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from opproof.core.verdicts import WRONG
from opproof.reports import Result
from opproof.reports._kinds import severity_of

#: Failures that have a size. The others are faults: they happen, or do not.
SIZED = WRONG

#: A limit is at most so many times the largest that was seen.
LIMIT_FACTOR = 2.0


@dataclass(frozen=True)
class ErrorLimits:
    """Those of an entry, see docs/explanation/known-failures.md; None and False where it has none."""

    units: float | None = None
    rms: float | None = None
    share: float | None = None
    nonfinite: bool = False
    zeros: bool = False

    def check(self) -> None:
        """Raise ValueError where a number says nothing."""
        for name, number in (("units", self.units), ("rms", self.rms)):
            if number is not None and not 0 < number < math.inf:  # nan neither
                raise ValueError(f"{name} is {number}; expected more than 0, the largest that is still this failure")
        if self.share is not None and not 0 <= self.share <= 1:
            raise ValueError(f"share is {self.share}; expected 0 to 1, the largest that is still this failure")
        if self.rms is not None and self.units is None:
            raise ValueError("rms is given without units; give both")

    def allow(self, result: Result) -> bool:
        """Whether a wrong answer is within all of them."""
        if result.zeros:
            return self.zeros
        share = 1.0 if result.share is None else result.share
        if result.nonfinite and not (self.nonfinite and (share < 1 or self.share == 1)):
            return False
        if self.share is not None and share > self.share:
            return False
        if self.rms is not None and result.rms is not None and result.rms > self.rms:
            return False
        size = measure_finite_size(result)
        if math.isinf(size):
            return self.share is not None
        return (size == 0 and result.nonfinite > 0) or (self.units is not None and size <= self.units)


def measure_finite_size(result: Result) -> float:
    """How far off a wrong answer is where both numbers are finite, in units; inf where no number says it."""
    return severity_of(result.finite_units if result.nonfinite else result.units)


def find_largest_figures(failures: Iterable[Result]) -> ErrorLimits:
    """The largest units and RMS, None where there are none. Of zeros they say nothing; infinite units are no figure."""
    numbers = [r for r in failures if r.verdict in SIZED and not r.zeros]
    sizes = [size for r in numbers if math.isfinite(size := measure_finite_size(r)) and (size > 0 or not r.nonfinite)]
    return ErrorLimits(max(sizes, default=None), max((r.rms for r in numbers if r.rms), default=None))


def limits_of(failures: Iterable[Result]) -> ErrorLimits:
    """The limits of an entry that is to explain these failures."""
    sized = [r for r in failures if r.verdict in SIZED]
    numbers = [r for r in sized if not r.zeros]
    largest = find_largest_figures(numbers)
    return ErrorLimits(
        units=None if largest.units is None else calculate_limit(largest.units),
        rms=None if largest.rms is None or largest.units is None else calculate_limit(largest.rms),
        share=_share(numbers),
        nonfinite=any(r.nonfinite for r in numbers),
        zeros=any(r.zeros for r in sized),
    )


def is_high(limit: float, largest: float) -> bool:
    """Whether a limit is more than twice the largest that was seen, and more than a unit."""
    return limit > max(1.0, LIMIT_FACTOR * largest)


def calculate_limit(largest: float) -> float:
    """Twice as much, down to two digits; 1 where nothing was seen."""
    if largest <= 0:
        return 1.0
    digit = 10.0 ** (math.floor(math.log10(LIMIT_FACTOR * largest)) - 1)
    return float(f"{math.floor(LIMIT_FACTOR * largest / digit) * digit:.2g}")


def _share(numbers: list[Result]) -> float | None:
    """Twice as many, but halfway to all of them at most; needed of errors without a number, and where all fail."""
    shares = [1.0 if r.share is None else r.share for r in numbers]
    needed = (
        math.isinf(measure_finite_size(r)) or (r.nonfinite and s == 1) for r, s in zip(numbers, shares, strict=True)
    )
    if not any(needed):
        return None
    largest = max(shares)
    return math.ceil(100 * min(LIMIT_FACTOR * largest, (1 + largest) / 2)) / 100
