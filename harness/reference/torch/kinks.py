"""Gradients at kinks: any between the derivatives on either side passes, of relu at 0, of a maximum of equals.

A PyTorch function does not say where its kinks are. Beside a point on one there are points without: the inputs are
moved by far less than any rounding, up, down and at random, and the gradients there are the ends of what may come.
Where the function is smooth they are all the same number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array
from opproof.harness.reference.torch.evaluate import TorchQuestion, evaluate_exactly

#: How far inputs are moved, relative to 1 or to their size; how often at random, and how often where that is too few:
#: of five equal elements one of three hundred has not had each rank in 24 orders.
RELATIVE_STEP = 2.0**-38
RANDOM_POINTS = 24
MANY_RANDOM_POINTS = 240
#: Gradients of so many different numbers at random points are sums over many kinks, of which points at random do not
#: meet the ends: these lie so many times the span of what came beyond it, as where all rows choose the first of equals.
_MIN_DIFFERENT_NUMBERS = 6
_SPANS_BEYOND = 1.0
#: Derivatives on either side that differ by less, relatively, are one.
_MIN_RELATIVE_GAP = 1e-7


@dataclass(frozen=True)
class KinkGradients:
    """The gradients of one input at the point and at points beside it: their ends, and those of their sums."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    sums: tuple[float, float]  # over the elements at kinks
    different: NDArray[np.int64]  # how many different numbers came

    def over_many(self) -> KinkGradients:
        """The same with wider ends where a gradient is a sum over many kinks."""
        with np.errstate(invalid="ignore"):  # both ends may be infinite
            beyond = np.where(self.at & (self.different >= _MIN_DIFFERENT_NUMBERS), self.high - self.low, 0.0)
        return replace(self, low=self.low - _SPANS_BEYOND * beyond, high=self.high + _SPANS_BEYOND * beyond)

    @property
    def at(self) -> NDArray[np.bool_]:
        """Which elements are at a kink."""
        return _are_apart(self.low, self.high)


def find_kink_gradients(question: TorchQuestion, times: int = RANDOM_POINTS) -> list[KinkGradients | None]:
    """Of every input, None where no gradient is asked for; from points at random, so many."""
    found: list[list[Any]] = [_evaluate_gradients(question)]
    found += [_evaluate_gradients(replace(question, inputs=inputs)) for inputs in _move_beside(question, times)]
    return [None if d is None else _of([np.asarray(f[i]) for f in found]) for i, d in enumerate(found[0])]


def _evaluate_gradients(question: TorchQuestion) -> list[Any]:
    return evaluate_exactly(question)[1][len(question.dtypes) :]


def _move_beside(question: TorchQuestion, times: int) -> Iterator[tuple[Array | None, ...]]:
    rng = np.random.default_rng(7)

    def moved(x: Array | None, need: bool, how: str) -> Array | None:
        if x is None or not need or x.dtype.kind != "f":
            return x
        along = rng.standard_normal(x.shape)
        if how != "random":  # all up, or all down, no two by the same
            along = (1 + np.arange(x.size).reshape(x.shape) / max(1, x.size)) * (1.0 if how == "up" else -1.0)
        return np.asarray(x + RELATIVE_STEP * np.maximum(1, np.abs(x)) * along)

    for how in ("up", "down", *["random"] * times):
        yield tuple(moved(x, n, how) for x, n in zip(question.inputs, question.needs, strict=True))


def _of(gradients: Sequence[Array]) -> KinkGradients:
    low, high = np.min(gradients, axis=0), np.max(gradients, axis=0)
    mask = _are_apart(low, high)
    sums = [float(np.sum(d, where=mask)) for d in gradients]
    return KinkGradients(low, high, (min(sums), max(sums)), _count_different(gradients, low, high))


def _count_different(gradients: Sequence[Array], low: Array, high: Array) -> NDArray[np.int64]:
    """How many different numbers came, of each element, in steps of a thousandth of their span."""
    with np.errstate(all="ignore"):
        steps = [np.nan_to_num(np.rint(1e3 * (d - low) / (high - low))) for d in gradients]
    ordered = np.sort(np.stack(steps), axis=0)
    return np.asarray(1 + np.count_nonzero(ordered[1:] > ordered[:-1], axis=0))


def _are_apart(low: Array, high: Array) -> NDArray[np.bool_]:
    with np.errstate(all="ignore"):
        return np.asarray(high - low > _MIN_RELATIVE_GAP * (np.abs(low) + np.abs(high)))
