"""Bilinear samples of a plane at any place: the four cells about it, their weights, and how these change.

Places are in cells, the first cell's centre at 0; `alive` is False where a cell lies outside, which reads as 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from opproof.core.arrays import Array

#: Cells from the first one at which a place is outside every plane; a power of two, which bfloat16 has.
FAR = 2**31


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
    first_row, first_column = _count_cells(top), _count_cells(left)
    found = []
    for down in (0, 1):
        for right in (0, 1):
            fy, fx = (y - top, x - left)
            wy, sy = (fy, 1.0) if down else (1 - fy, -1.0)
            wx, sx = (fx, 1.0) if right else (1 - fx, -1.0)
            row, column = first_row + down, first_column + right
            inside = (row >= 0) & (row < size[0]) & (column >= 0) & (column < size[1])
            alive = inside.astype(y.dtype)
            row, column = (np.clip(cell, 0, max(n - 1, 0)) for cell, n in zip((row, column), size, strict=True))
            found.append(Corner(row, column, wy * wx * alive, sy * wx * alive, sx * wy * alive))
    return found


def _count_cells(place: Array) -> Array:
    """Whole cells as integers, which no format of places rounds; NaN and what is far lie outside any plane."""
    finite = np.isfinite(place)
    near = np.where(finite, np.clip(place, -FAR, FAR), 0).astype(np.int64)
    return np.where(place == np.inf, FAR, np.where(finite, near, -FAR))


def read(x: Array, row: Array, column: Array) -> Array:
    """X (n, c, h, w) at the cells (n, ...): (n, c, ...)."""
    batch = np.reshape(np.arange(x.shape[0]), (-1, *(1,) * (row.ndim - 1)))
    return np.moveaxis(x[batch, :, row, column], -1, 1)


def add(target: Array, row: Array, column: Array, values: Array) -> None:
    """The transpose of `read`: values (n, c, ...) added to target (n, c, h, w)."""
    batch = np.reshape(np.arange(target.shape[0]), (-1, *(1,) * (row.ndim - 1)))
    np.add.at(target, (batch, slice(None), row, column), np.moveaxis(values, 1, -1))  # type: ignore[arg-type]
