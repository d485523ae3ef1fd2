"""What the gradients at kinks must be together: one subgradient of all inputs, not a value of its own for each element.

Elements that tie share one kink: moved together they show another slope than one by one. The gradient along a
direction lies between the one-sided derivatives along it: maximum(a, a) grows by g when both grow by 1, so its two
gradients add up to g, whoever gets it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from opproof.core.arrays import Array
from opproof.harness.truth.kinks import Kinked, slope
from opproof.harness.truth.posed import Posed

#: Directions that are tried beside the one in which all elements grow, where inputs have one shape.
_MIXED = 3


@dataclass(frozen=True)
class Limits:
    """Between which the gradient along `directions`, by argument, must lie."""

    directions: Mapping[int, Array]
    low: float
    high: float


def limits(posed: Posed, kinked: Mapping[int, Kinked]) -> Iterator[Limits]:
    """Of the kinked elements of every argument; none where each element has a kink of its own."""
    kinked = {which: k for which, k in kinked.items() if k.mask.any()}
    if not kinked:
        return
    for signs in _signs(kinked):
        directions = {which: np.where(k.mask, signs, 0.0) for which, k in kinked.items()}
        ends = np.stack([slope(posed, directions, -1), slope(posed, directions, 1)])
        own = _alone(kinked, directions)
        shared = np.ones(2, dtype=bool) if own is None else ~np.isclose(ends, own, rtol=1e-6, atol=1e-6).all(axis=0)
        if not shared.any():
            continue
        least, most = _sums(kinked, directions)
        low = np.where(shared, ends.min(axis=0), least)
        high = np.where(shared, ends.max(axis=0), most)
        yield Limits(directions, float(low.sum()), float(high.sum()))


def _signs(kinked: Mapping[int, Kinked]) -> Iterator[Array]:
    """All growing together; where several inputs of one shape have kinks, also some growing and some falling."""
    yield np.ones(())
    shapes = {k.mask.shape for k in kinked.values()}
    if len(kinked) > 1 and len(shapes) == 1:
        rng = np.random.default_rng(0)
        for _ in range(_MIXED):
            yield rng.choice([-1.0, 1.0], size=next(iter(shapes)))


def _alone(kinked: Mapping[int, Kinked], directions: Mapping[int, Array]) -> Array | None:
    """The derivatives from either side, (2, 2), as they were if each element had its own kink; None where not known."""
    if any(k.unseen.any() for k in kinked.values()):
        return None
    total = np.zeros((2, 2))
    for which, k in kinked.items():
        d = directions[which][..., None]
        before, after = np.where(d > 0, k.left, k.right) * d, np.where(d > 0, k.right, k.left) * d
        total += np.stack([before[k.mask].sum(axis=0), after[k.mask].sum(axis=0)])
    return total


def _sums(kinked: Mapping[int, Kinked], directions: Mapping[int, Array]) -> tuple[Array, Array]:
    """The least and the most that the intervals of the elements allow."""
    least, most = np.zeros(2), np.zeros(2)
    for which, k in kinked.items():
        ends = np.stack([k.left, k.right]) * directions[which][..., None]
        least, most = least + ends.min(axis=0)[k.mask].sum(axis=0), most + ends.max(axis=0)[k.mask].sum(axis=0)
    return least, most
