"""Noise whose mean square is the sum of squares that it stands for, without sampling: for operators of single elements.

Where no element meets another, all elements may share one draw. The k-th rounding of a reference gets the k-th column
of a Hadamard matrix for its runs: columns are orthogonal, so the mean square over the runs is to first order exactly
the sum of the squared effects of all roundings, which normal noise approaches as runs grow. Independent roundings that
cancel in one run add up in another: signs alone do no harm where all combinations that matter are there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[Any]

#: Roundings of an operator up to which this pays.
MOST = 32
#: Runs at least: where errors are not small, signs of one or two runs say little.
LEAST = 4


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


def runs_for(roundings: int) -> int:
    """Runs in which so many roundings are orthogonal."""
    return max(LEAST, 1 << max(roundings - 1, 0).bit_length())
