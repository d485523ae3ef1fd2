"""How far honest rounding moves results where it decides otherwise: a sum that is compared, a ratio that is rounded.

Bounds are measured with the decisions of the exact evaluation, so that no flipped branch widens them. A candidate that
is wrong by such a bound may have decided otherwise, of a number that it computed and rounded as anybody does. Noise
larger than of true roundings decides anew here; beside it stands the same noise with the decisions of the exact
evaluation, and what the two differ by is what deciding is worth, element by element. Inputs come as they are: whoever
compares one with a constant has nothing to round.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array
from opproof.harness.truth.torch.arithmetic import Arithmetic, Tape, Way
from opproof.harness.truth.torch.evaluate import Question, evaluated, key_of, true_amplitudes

#: Evaluations, and by what their roundings are larger than true ones: a decision that true ones flip once in 30,000
#: times, at four standard deviations, is flipped by one in six of these.
_RUNS, _LARGER = 16, 4.0
#: What may come lies so many times the span of what came beyond its ends: many decisions meet in one sum.
_BEYOND = 1.0
#: Decisions that take some elements by their order.
_SELECTIONS = frozenset("ordered argmax argmin argsort median searchsorted bucketize unique".split())


@dataclass(frozen=True)
class Decided:
    """Of one result, by how much it may be lower and higher by deciding otherwise."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]

    def reaches(self, off: Array, bound: Array) -> NDArray[np.bool_]:
        """Which elements that are `off` by so much are so by deciding otherwise, and by no more than a bound beside.

        Where it is whole numbers that are decided, the bound is 0, and none but what came may come.
        """
        with np.errstate(all="ignore"):
            beyond = np.where(bound > 0, bound + _BEYOND * (self.high - self.low), 0.0)
            within = (off >= self.low - beyond) & (off <= self.high + beyond)
        return np.asarray(within & ((self.low < 0) | (self.high > 0)))


def selects(question: Question) -> bool:
    """Whether the reference takes some elements for their size, as topk and argmax do."""
    import torch

    tape = Tape()
    evaluated(Arithmetic(torch, tape), question, 0.0)
    return any(name in _SELECTIONS for name, _ in tape.entries)


def decided_anew(question: Question) -> list[Decided | None]:
    """Of every output and gradient; None where it is no number, or nothing is decided otherwise.

    Raises OpError where the reference takes other ways then, so that nothing is known.
    """
    import torch

    tape = Tape()
    evaluated(Arithmetic(torch, tape), question, 0.0)
    large = true_amplitudes(question, _LARGER)
    ends: list[Decided | None] = [None] * len(question.results)
    for run in range(_RUNS):
        seed = key_of(question, run)
        free = Arithmetic(torch, tape.rewound(), large, seed, Way.ANEW)
        try:
            others = evaluated(free, question, _LARGER)
        except (RuntimeError, IndexError):  # what is decided otherwise points past an end
            continue
        if free.otherwise:
            kept = evaluated(Arithmetic(torch, tape.rewound(), large, seed, Way.GIVEN), question, _LARGER)
            ends = [_wider(end, x, y) for end, x, y in zip(ends, kept, others, strict=True)]
    return ends


def _wider(end: Decided | None, kept: Any, other: Any) -> Decided | None:
    if kept is None or np.array_equal(kept, other, equal_nan=kept.dtype.kind in "fc"):
        return end
    with np.errstate(all="ignore"):
        off = np.nan_to_num(_numbers(other) - _numbers(kept), nan=0.0, posinf=np.inf, neginf=-np.inf)
    low, high = np.minimum(off, 0.0), np.maximum(off, 0.0)
    return Decided(low, high) if end is None else Decided(np.minimum(end.low, low), np.maximum(end.high, high))


def _numbers(values: Array) -> Array:
    return np.asarray(values.real if values.dtype.kind == "c" else values, dtype=np.float64)
