"""The scale of honest rounding where no noise was run: what slices of the same distribution have.

Data are drawn alike for every slice, so that the scale of an element has, in every slice, the same distribution. Of
the drawn slices the least is taken, in roundoffs and as a share of |expected|: a bound by it hardly ever excuses what
the element's own noise would not. An element that it does not excuse is judged by noise of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array
from opproof.harness.reference.expected import Expected


@dataclass(frozen=True)
class Scales:
    """By place on the axes along which slices are not independent, 1 on the others: `absolute` and per |expected|."""

    absolute: NDArray[np.float64]
    relative: NDArray[np.float64]

    def of(self, values: Array, place: tuple[slice, ...]) -> NDArray[np.float64]:
        """The scale of `values` that lie at `place` of their tensor."""
        own = tuple(s if n > 1 else slice(None) for s, n in zip(place, self.absolute.shape, strict=True))
        scale = np.maximum(self.absolute[own], self.relative[own] * np.abs(values))
        return np.nan_to_num(scale, nan=0.0, posinf=0.0)


def scales(samples: Sequence[Expected], joined: tuple[int, ...], *, largest: bool = False) -> Scales:
    """The least scales of the samples, or the largest; along the axes `joined` they are slices like all others."""
    pick, start = (np.fmax, 0.0) if largest else (np.fmin, np.inf)
    absolute: list[Array] = []
    relative: list[Array] = []
    for sample in samples:
        size = np.abs(sample.values)
        scale = np.where(np.isfinite(size) & (sample.scale > 0), sample.scale, np.nan)
        with np.errstate(all="ignore"):
            share = np.where(size > 0, scale / size, np.nan)
        for ends, found in ((absolute, scale), (relative, share)):
            ends.append(pick.reduce(np.nan_to_num(found, nan=start), axis=joined, keepdims=True, initial=start))
    both = (pick.reduce(ends) for ends in (absolute, relative))
    return Scales(*(np.where(np.isfinite(e), e, 0.0) for e in both))
