"""Bilinear samples of a plane at any place: the four cells about it, their weights, and how these change.

Places are in cells, the first cell's centre at 0; `alive` is False where a cell lies outside, which reads as 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from opproof.core.arrays import Array


@dataclass(frozen=True)
class Corner:
    """One of the cells about each place: where it lies, its weight, and the weight's change along y and x."""

    row: Array
    column: Array
    weight: Array
    along_y: Array
    along_x: Array


def corners(y: Array, x: Array, size: tuple[int, int]) -> list[Corner]:
    """The four cells about each place; those outside the plane have weight 0 and stand at its nearest cell."""
    top, left = np.floor(y), np.floor(x)
    found = []
    for down in (0, 1):
        for right in (0, 1):
            fy, fx = (y - top, x - left)
            wy, sy = (fy, 1.0) if down else (1 - fy, -1.0)
            wx, sx = (fx, 1.0) if right else (1 - fx, -1.0)
            row, column = _cell(top + down, size[0]), _cell(left + right, size[1])
            inside = ((top + down >= 0) & (top + down <= size[0] - 1)
                      & (left + right >= 0) & (left + right <= size[1] - 1))  # fmt: skip
            alive = inside.astype(y.dtype)
            found.append(Corner(row, column, wy * wx * alive, sy * wx * alive, sx * wy * alive))
    return found


def _cell(place: Array, n: int) -> Array:
    """Whole numbers of cells, those outside and NaN brought inside."""
    return np.where(np.isnan(place), 0, np.clip(place, 0, max(n - 1, 0))).astype(np.int64)


def read(x: Array, row: Array, column: Array) -> Array:
    """X (n, c, h, w) at the cells (n, ...): (n, c, ...)."""
    batch = np.reshape(np.arange(x.shape[0]), (-1, *(1,) * (row.ndim - 1)))
    return np.moveaxis(x[batch, :, row, column], -1, 1)


def add(target: Array, row: Array, column: Array, values: Array) -> None:
    """The transpose of `read`: values (n, c, ...) added to target (n, c, h, w)."""
    batch = np.reshape(np.arange(target.shape[0]), (-1, *(1,) * (row.ndim - 1)))
    np.add.at(target, (batch, slice(None), row, column), np.moveaxis(values, 1, -1))  # type: ignore[arg-type]
