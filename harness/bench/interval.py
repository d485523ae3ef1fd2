"""Times of blocks as a median with its interval, by ranks: no shape of the noise is assumed."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from opproof.reports.bench.record import Interval

#: Chance that the interval misses the median.
_MISS = 0.05
#: Blocks without which there is no interval of that chance.
LEAST = 6


def interval(seconds: Sequence[float]) -> Interval:
    """Median of the time of a call, and the ranks between which it lies with 95 %: all times where these are few."""
    from scipy.stats import binom

    ordered, n = sorted(seconds), len(seconds)
    below = int(binom.ppf(_MISS / 2, n, 0.5)) if n >= LEAST else 0
    low, high = max(0, below - 1), min(n - 1, n - below)
    return Interval(median=median(ordered), low=ordered[low], high=ordered[high], blocks=n)
