"""Resizing of the last two axes: each is a small matrix of weights, applied from both sides."""

import numpy as np

from opproof.core.arrays import Array


def coordinates(n: int, out: int, align_corners: bool, like: Array) -> tuple[Array, Array]:
    """Where each output cell lies on an axis of n cells: exactly, and in the arithmetic of `like`.

    align_corners puts the first and last cells on those of the input, else the axes' ends coincide.
    """
    cells = np.arange(out, dtype=np.real(like).dtype, like=like)
    step = ((n - 1) / (out - 1) if out > 1 else 0.0) if align_corners else n / out
    exact = step * np.arange(out) if align_corners else step * (np.arange(out) + 0.5) - 0.5
    return exact, cells * step if align_corners else (cells + 0.5) * step - 0.5


def near(t: Array, a: float = -0.75) -> Array:
    """Weight of a cell at distance t of at most 1, in cubic convolution."""
    return ((a + 2) * t - (a + 3)) * t * t + 1


def far(t: Array, a: float = -0.75) -> Array:
    """Weight of a cell at distance t between 1 and 2, in cubic convolution."""
    return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a


def matrix(taps: list[tuple[Array, Array]], n: int) -> Array:
    """(out, n) from (cell, weight) pairs; a tap outside the axis reads its nearest cell."""
    rows = [np.where(np.clip(cell, 0, n - 1)[:, None] == np.arange(n), w[:, None], 0) for cell, w in taps]
    total = rows[0]
    for row in rows[1:]:
        total = total + row
    return total


def resize(x: Array, rows: Array, columns: Array) -> Array:
    """`rows` (out, h) and `columns` (out, w) applied to x (..., h, w); their transposes undo the shapes."""
    return np.matmul(rows, np.matmul(x, np.swapaxes(columns, 0, 1)))  # type: ignore[no-any-return]
