"""Matrices that are positive definite, or can be inverted, also once they are rounded to 16 bits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from opproof.core.dtypes import DTYPES, round_to

Floats = NDArray[np.float64]


def definite(values: Floats) -> Floats:
    """The product of each matrix with its transpose, and a quarter of its largest element on the diagonal.

    So no rounding to 16 bits makes it indefinite. Sums of products of dyadic numbers are exact, whoever multiplies.
    """
    n = values.shape[-1]
    squares = np.matmul(values, np.swapaxes(values, -1, -2)) / 2 ** max(n - 1, 0).bit_length()
    most = np.max(squares, axis=(-2, -1), initial=0.0, keepdims=True)
    return squares + np.eye(n) * most / 4  # type: ignore[no-any-return]


def regular(values: Floats) -> Floats:
    """Matrices as they are; those without full rank, rounded to bfloat16 or not, with a diagonal that dominates."""
    n = values.shape[-1]
    if not values.size:
        return values
    with np.errstate(all="ignore"):
        finite = np.where(np.isfinite(values), values, 1.0)
        rounded = np.asarray(round_to(finite, DTYPES["bf16"]), dtype=np.float64)
        least = np.minimum(np.linalg.matrix_rank(finite), np.linalg.matrix_rank(rounded))
    most = np.max(np.abs(values), axis=(-2, -1), keepdims=True)
    return np.where((least < n)[..., None, None], values + np.eye(n) * (n * most), values)
