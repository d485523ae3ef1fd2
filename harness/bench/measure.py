"""Blocks of calls, backends in turn so that noise hits all of them, until the intervals are narrow or time is up.

A neighbour on the same silicon slows a core by a third for tenths of a second, and every block of a visit that falls
into them. So each backend is visited several times, and the fastest visit counts. Medians have intervals by ranks.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from random import Random, SystemRandom
from statistics import median
from typing import TypeAlias

from opproof.reports.bench.record import Interval

#: Makes a block of so many calls, and says how many seconds they took together.
Timer: TypeAlias = Callable[[int], float]
#: Makes a block of so many calls that is looked at.
Look: TypeAlias = Callable[[int], object]


@dataclass(frozen=True)
class Effort:
    """How long to measure."""

    width: float = 0.02  # of the interval's half, as a share of the median, at which a measurement is done
    budget: float = 2.0  # seconds of calls, for each backend, in all visits
    block: float = 0.01  # seconds that a block is to take
    warm_up: int = 2  # blocks that do not count
    most: int = 400  # blocks of a visit
    visits: int = 4
    pause: float = 0.2  # seconds between visits


@dataclass
class _Series:
    calls: int = 1
    spent: float = 0.0
    seconds: list[float] = field(default_factory=list)  # of one call

    def done(self, effort: Effort) -> bool:
        """Whether this visit makes no more blocks."""
        if len(self.seconds) < MIN_BLOCKS:
            return self.spent > 4 * effort.budget and len(self.seconds) > 1
        if self.spent > effort.budget / effort.visits or len(self.seconds) >= effort.most:
            return True
        return interval_of(self.seconds).half_width <= effort.width


def measure(
    timers: Mapping[str, Timer], effort: Effort, looks: Mapping[str, Look] | None = None, chance: Random | None = None
) -> dict[str, Interval]:
    """The time of a call by each of `timers`: of its visits the one of least median. Disturbances only add."""
    drawn = SystemRandom() if chance is None else chance
    visits = [_visit(timers, effort, looks or {}, drawn)]
    while len(visits) < effort.visits and all(sum(v[n].spent for v in visits) < effort.budget for n in timers):
        time.sleep(effort.pause)
        visits.append(_visit(timers, effort, looks or {}, drawn))
    return {n: min((interval_of(v[n].seconds) for v in visits), key=lambda i: i.median) for n in timers}


def _visit(
    timers: Mapping[str, Timer], effort: Effort, looks: Mapping[str, Look], chance: Random
) -> dict[str, _Series]:
    """Blocks made in turn; who is first changes with every round.

    All go on while one of them is not done: a comparison is between blocks made at the same time.
    """
    series = {name: _Series() for name in timers}
    for name, timer in timers.items():
        one = series[name]
        for _ in range(effort.warm_up):
            spent = timer(one.calls)
            one.spent += spent
            one.calls = max(1, ceil(effort.block / max(spent / one.calls, 1e-9)))
    order, due = list(timers), {name: _draw_moments(chance) for name in looks}
    while not all(one.done(effort) for one in series.values()):
        for name in order:
            one = series[name]
            spent = timers[name](one.calls)
            one.spent += spent
            one.seconds.append(spent / one.calls)
            if name in due and next(due[name]):
                looks[name](one.calls)
        order = [*order[1:], order[0]]
    for name, look in looks.items():  # what begins later than all others would not have been seen
        look(series[name].calls)
    return series


def _draw_moments(chance: Random) -> Iterator[bool]:
    """For every round whether there is a look after it: one in the first few, then fewer the more rounds there are."""
    gap = MIN_BLOCKS
    while True:
        at = chance.randrange(gap)
        yield from (k == at for k in range(gap))
        gap *= 2


#: Chance that the interval misses the median.
_MISS = 0.05
#: Blocks without which there is no interval of that chance.
MIN_BLOCKS = 6


def interval_of(seconds: Sequence[float]) -> Interval:
    """Median of the time of a call, and the ranks between which it lies with 95 %: all times where these are few."""
    from scipy.stats import binom

    ordered, n = sorted(seconds), len(seconds)
    below = int(binom.ppf(_MISS / 2, n, 0.5)) if n >= MIN_BLOCKS else 0
    low, high = max(0, below - 1), min(n - 1, n - below)
    return Interval(median=median(ordered), low=ordered[low], high=ordered[high], blocks=n)
