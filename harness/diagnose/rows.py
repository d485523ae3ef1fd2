"""Errors that are the same all along a row: each row times a factor of its own, or shifted by a constant of its own.

A sum, a mean or a root that was wrong for the row does that: eps outside the root, an exponential left out of a
softmax, a normalisation that forgot a term.
"""

from __future__ import annotations

import numpy as np

from opproof.harness.diagnose.wrong import Wrong
from opproof.vocabulary.arrays import Array

#: Shorter rows than this are explained by anything.
_SHORTEST = 4


def factors(w: Wrong) -> str | None:
    """Every row the expected one times its own factor, fitted by least squares."""
    for axis in _axes(w):
        square = np.sum(w.expected * w.expected, axis=axis, keepdims=True)
        factor = np.sum(w.got * w.expected, axis=axis, keepdims=True) / np.where(square > 0, square, 1)
        if w.fits(factor * w.expected, free=factor.size):
            between = _range(w, factor, axis)
            return f"every row of {w.what} along axis {axis} is a factor of its own × the expected one, {between}"
    return None


def shifts(w: Wrong) -> str | None:
    """Every row the expected one plus its own constant."""
    for axis in _axes(w):
        shift = np.median(w.got - w.expected, axis=axis, keepdims=True)
        if w.fits(w.expected + shift, free=shift.size):
            between = _range(w, shift, axis)
            return f"every row of {w.what} along axis {axis} is off by a constant of its own, {between}"
    return None


def _axes(w: Wrong) -> list[int]:
    """Axes of rows that are not all one number, and most of them wrong; the last axis first, where most rows are."""
    if w.expected.dtype.kind != "f" or w.got.ndim < 2 or not np.isfinite(w.got - w.expected).all():
        return []
    axes = [a for a in reversed(range(w.got.ndim)) if w.got.shape[a] >= _SHORTEST]
    return [a for a in axes if np.ptp(w.expected, axis=a).any() and w.failing.any(axis=a).mean() > 0.5]


def _range(w: Wrong, amounts: Array, axis: int) -> str:
    """From the least to the greatest of the rows that are wrong."""
    wrong = amounts[w.failing.any(axis=axis, keepdims=True)]
    return f"{wrong.min():.6g} to {wrong.max():.6g}"
