"""A set of elements that might be the wrong ones, and how it is said."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]

#: Bits of a threshold that the data chose, where they are not counted.
CHOSEN = 4.0


@dataclass(frozen=True)
class Region:
    """A set of elements that might be the wrong ones."""

    label: str
    said: str
    mask: Mask
    cost: float = 0.0  # bits, for being one of several that the data chose from
    axis: int | None = None  # of the slices of which the region consists
    double: bool = False  # it is told as two places at once, each of which is a region too


def broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    """Whether a mask of this shape broadcasts to that of the wrong tensor."""
    return len(shape) <= len(to) and all(n in (1, m) for n, m in zip(shape[::-1], to[::-1], strict=False))
