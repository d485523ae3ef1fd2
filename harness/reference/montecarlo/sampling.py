"""Draws for noisy arithmetic: windows of a pool that is drawn once, or columns of a Hadamard matrix.

A key and the number of a window decide its place in the pool; what two windows have in common stands at other elements
in each, so that neither the runs of an element nor its roundings share a draw. Where no element meets another, the k-th
rounding gets the k-th column: the mean square over the runs is then, to first order, the sum of the squared effects.
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


#: Roundings of an operator up to which this pays.
MAX_ORTHOGONAL_ROUNDINGS = 32
#: Runs at least: where errors are not small, signs of one or two runs say little.
MIN_ORTHOGONAL_RUNS = 4


@dataclass
class Counting:
    """No noise: counts how many roundings ask for it."""

    count: int = 0

    def added(self, runs: Floats, _: Floats | float) -> Floats:
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

    def added(self, runs: Floats, size: Floats | float) -> Floats:
        """`runs` with the next column, one element a run, times `size`."""
        column = self.matrix[:, self.used % self.runs]
        self.used += 1
        return runs + column.reshape(-1, *(1 for _ in runs.shape[1:])) * size


def count_runs(roundings: int) -> int:
    """Runs in which so many roundings are orthogonal."""
    return max(MIN_ORTHOGONAL_RUNS, 1 << max(roundings - 1, 0).bit_length())
