"""Normal draws from a pool that is drawn once, in place of fresh ones: quick, and the same for one key.

Draws are taken a window at a time, from a place of the pool that the key and the number of the window decide. Two
windows overlap now and then; what they have in common stands at other elements in each, so that neither the 16 runs
of an element nor the roundings that it goes through share a draw. Where elements are added up, a sum would have to
meet both windows in one run for its noise to be a little more or less than that of fresh draws.

Noise whose mean square is the sum of squares that it stands for, without sampling: for operators of single elements.

Where no element meets another, all elements may share one draw. The k-th rounding of a reference gets the k-th column
of a Hadamard matrix for its runs: columns are orthogonal, so the mean square over the runs is to first order exactly
the sum of the squared effects of all roundings, which normal noise approaches as runs grow. Independent roundings that
cancel in one run add up in another: signs alone do no harm where all combinations that matter are there.
"""

from __future__ import annotations

import functools
import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Places at which a window may begin, a power of two, and the most draws of one window: what a processor's cache holds.
WINDOW_START_BITS = 20
MAX_WINDOW_DRAWS = 2**14

Floats = NDArray[Any]


@functools.cache
def _draw_pool() -> Floats:
    drawn: Floats = np.random.Generator(np.random.SFC64(20)).standard_normal(2**WINDOW_START_BITS + MAX_WINDOW_DRAWS)
    drawn.flags.writeable = False
    return drawn


@dataclass
class Pooled:
    """Draws of one key, which come out the same whenever they are asked for in the same order."""

    key: int
    places: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.places = random.Random(self.key)  # noqa: S311 - noise, no secret

    def added(self, runs: Floats, size: Floats | float) -> Floats:
        """See Draws."""
        if runs.size <= MAX_WINDOW_DRAWS:
            noise = self._take_window(runs.size).reshape(runs.shape) * size
            noise += runs
            return noise
        result = np.empty(runs.shape)
        if runs.size <= MAX_WINDOW_DRAWS * len(runs):  # one window for each run
            broad = np.broadcast_to(size, runs.shape[1:])
            for row in result:
                np.multiply(self._take_window(row.size).reshape(row.shape), broad, out=row)
            result += runs
            return result
        sizes = np.ascontiguousarray(np.broadcast_to(size, runs.shape[1:])).reshape(-1)
        for before, after in zip(runs, result.reshape(len(runs), -1), strict=True):
            row = np.ascontiguousarray(before).reshape(-1)
            for start in range(0, sizes.size, MAX_WINDOW_DRAWS):
                piece = slice(start, start + MAX_WINDOW_DRAWS)
                np.multiply(self._take_window(after[piece].size), sizes[piece], out=after[piece])
                after[piece] += row[piece]
        return result

    def _take_window(self, count: int) -> Floats:
        place = self.places.getrandbits(WINDOW_START_BITS)
        return _draw_pool()[place : place + count]


Floats_orthogonal = NDArray[Any]

#: Roundings of an operator up to which this pays.
MAX_ORTHOGONAL_ROUNDINGS = 32
#: Runs at least: where errors are not small, signs of one or two runs say little.
MIN_ORTHOGONAL_RUNS = 4


@dataclass
class Counting:
    """No noise: counts how many roundings ask for it."""

    count: int = 0

    def added(self, runs: Floats_orthogonal, _: Floats_orthogonal | float) -> Floats_orthogonal:
        """See Draws."""
        self.count += 1
        return np.array(runs)


@dataclass
class Orthogonal:
    """The columns of a Hadamard matrix in turn, of as many rows as there are runs, a power of two."""

    runs: int
    used: int = 0
    matrix: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        self.matrix = np.ones((1, 1))
        while len(self.matrix) < self.runs:
            self.matrix = np.block([[self.matrix, self.matrix], [self.matrix, -self.matrix]])

    def added(self, runs: Floats_orthogonal, size: Floats_orthogonal | float) -> Floats_orthogonal:
        """`runs` with the next column, one element a run, times `size`."""
        column = self.matrix[:, self.used % self.runs]
        self.used += 1
        return runs + column.reshape(-1, *(1 for _ in runs.shape[1:])) * size


def count_runs(roundings: int) -> int:
    """Runs in which so many roundings are orthogonal."""
    return max(MIN_ORTHOGONAL_RUNS, 1 << max(roundings - 1, 0).bit_length())
