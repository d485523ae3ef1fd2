"""Matrices that are positive definite, also once they are rounded to 16 bits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def definite(values: Floats) -> Floats:
    """The product of each matrix with its transpose, and a quarter of its largest element on the diagonal.

    So no rounding to 16 bits makes it indefinite. Sums of products of dyadic numbers are exact, whoever multiplies.
    """
    n = values.shape[-1]
    squares = np.matmul(values, np.swapaxes(values, -1, -2)) / 2 ** max(n - 1, 0).bit_length()
    most = np.max(squares, axis=(-2, -1), initial=0.0, keepdims=True)
    return squares + np.eye(n) * most / 4  # type: ignore[no-any-return]
