"""Gradients at kinks: any value between the one-sided derivatives passes.

One-sided differences of the float64 reference, Richardson-extrapolated from two steps, of
L = sum(g y) along one element at a time, and along all kinked elements together (so that a tie
whose gradient went to nobody is seen). The positive and the negative cotangents make an interval
each, and the two are added: an element that ties in two windows may win one and lose the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from opproof.cases import Case
from opproof.harness.truth import reference
from opproof.reference_ops import Op
from opproof.vocabulary.arrays import Array

_STEP = 2.0**-20
#: A one-sided slope beyond this is a jump of the function, not a derivative.
_JUMP = 2.0**14
_MOST = 4096


@dataclass(frozen=True)
class Kinked:
    """Where one gradient may lie: `low <= gradient <= high` at the elements of `mask`."""

    mask: NDArray[np.bool_]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    left: NDArray[np.float64]
    right: NDArray[np.float64]
    total: tuple[float, float]  # limits of the sum of the gradient over the mask


def intervals(
    case: Case,
    op: Op,
    inputs: Sequence[Array | None],
    cotangents: Sequence[Array | None],
    which: int,
    mask: NDArray[np.bool_],
) -> Kinked:
    """The interval of every element of argument `which` in `mask` whose one-sided derivatives differ."""
    x = inputs[which]
    assert x is not None
    base = reference.forward(case, op, inputs)
    left, right = np.zeros((*x.shape, 2)), np.zeros((*x.shape, 2))

    def slope(direction: Array, sign: float) -> Array:
        """What positive and what negative cotangents give."""

        def difference(step: float) -> Array:
            moved = [x + sign * step * direction if v is x and i == which else v for i, v in enumerate(inputs)]
            found = reference.forward(case, op, moved)
            parts = [
                [float(np.sum((f - b) * np.where(up, g, 0))) for up in (g > 0, g <= 0)]
                for g, f, b in zip(cotangents, found, base, strict=True)
                if g is not None
            ]
            return sign * np.sum(parts, axis=0) / step  # type: ignore[no-any-return]

        return 2 * difference(_STEP / 2) - difference(_STEP)

    for index in map(tuple, np.argwhere(mask)[:_MOST]):
        direction = np.zeros(x.shape)
        direction[index] = 1
        left[index], right[index] = slope(direction, -1), slope(direction, 1)
    apart = np.abs(left - right) > 1e-7 * (1 + np.abs(left) + np.abs(right))
    smooth = (np.abs(left) < _JUMP) & (np.abs(right) < _JUMP)
    kinked = mask & apart.any(axis=-1) & smooth.all(axis=-1)
    limits = _limits(kinked, left, right, slope)
    low, high = np.minimum(left, right).sum(axis=-1), np.maximum(left, right).sum(axis=-1)
    return Kinked(kinked, low, high, left.sum(axis=-1), right.sum(axis=-1), limits)


def _limits(
    kinked: NDArray[np.bool_], left: Array, right: Array, slope: Callable[[Array, float], Array]
) -> tuple[float, float]:
    """Limits of the gradient's sum over kinked elements; none where each element has its own kink.

    Elements that tie share one kink: moved together they show another slope than their sum one by one.
    """
    if not kinked.any():
        return -np.inf, np.inf
    together = kinked.astype(np.float64)
    ends = np.stack([slope(together, -1), slope(together, 1)])
    sums = np.stack([left[kinked].sum(axis=0), right[kinked].sum(axis=0)])
    own = np.isclose(ends, sums, rtol=1e-6, atol=1e-6).all(axis=0)
    if own.all():
        return -np.inf, np.inf
    least = np.where(own, np.minimum(left, right)[kinked].sum(axis=0), ends.min(axis=0))
    most = np.where(own, np.maximum(left, right)[kinked].sum(axis=0), ends.max(axis=0))
    return float(least.sum()), float(most.sum())


def convention(gradient: Array, kinked: Kinked) -> str:
    """Which derivative a backend takes at kinks, in words; empty where it has none."""
    if not kinked.mask.any():
        return ""
    got = np.asarray(gradient, dtype=np.float64)[kinked.mask]
    left, right = kinked.left[kinked.mask], kinked.right[kinked.mask]
    candidates = {
        "the left derivative": left,
        "the right derivative": right,
        "the mean of both sides": (left + right) / 2,
        "zero": np.zeros_like(left),
    }
    near = [n for n, c in candidates.items() if np.allclose(got, c, rtol=2e-2, atol=1e-6)]
    return f"at kinks it takes {near[0] if near else 'a value between both sides'}"
