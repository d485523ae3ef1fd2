"""Errors that are the same all along a row: each row times a factor of its own, or shifted by a constant of its own.

A sum, a mean or a root that was wrong for the row does that: eps outside the root, an exponential left out of a
softmax, a normalisation that forgot a term.
"""

from __future__ import annotations

import numpy as np

from opproof.harness.diagnose.regions import Mask, floats
from opproof.harness.diagnose.wrong import Wrong
from opproof.vocabulary.arrays import Array

#: So many elements more than rows there must be: as many as the numbers taken from the data explain anything.
_MORE = 8


def factors(w: Wrong) -> str | None:
    """Every row the expected one times its own factor, fitted by least squares."""
    for axis, used in _axes(w):
        square, product = (np.where(used, v * w.expected, 0) for v in (w.expected, w.got))
        total = np.sum(square, axis=axis, keepdims=True)
        factor = np.sum(product, axis=axis, keepdims=True) / np.where(total > 0, total, 1)
        if w.fits(np.where(used, factor * w.expected, w.expected), free=factor.size):
            between = _range(w, factor, axis)
            return f"every row of {w.what} along axis {axis} is a factor of its own × the expected one, {between}"
    return None


def shifts(w: Wrong) -> str | None:
    """Every row the expected one plus its own constant."""
    for axis, used in _axes(w):
        shift = np.nanmedian(np.where(used, w.got - w.expected, np.nan), axis=axis, keepdims=True)
        candidate = np.where(used, w.expected + shift, w.expected)
        if w.fits(candidate, free=shift.size, through=w.expected):
            between = _range(w, shift, axis)
            return f"every row of {w.what} along axis {axis} is off by a constant of its own, {between}"
    return None


def _axes(w: Wrong) -> list[tuple[int, Mask]]:
    """Axes of rows that are not all one number, and most of them wrong; the last axis first, where most rows are.

    With the elements of rows that are finite throughout; there is no saying of the others.
    """
    if w.expected.dtype.kind != "f" or w.got.ndim < 2:
        return []
    finite = np.isfinite(w.expected)
    if not np.isfinite(w.got[finite]).all():
        return []
    found = []
    for axis in reversed(range(w.got.ndim)):
        whole = finite.all(axis=axis, keepdims=True)
        used = np.broadcast_to(whole, w.got.shape)
        if used.sum() - whole.sum() < _MORE or not np.ptp(np.where(used, w.expected, 0), axis=axis).any():
            continue
        if w.failing.any(axis=axis, keepdims=True)[whole].mean() > 0.5 and not _same_along(w, axis):
            found.append((axis, used))
    return found


def _same_along(w: Wrong, axis: int) -> bool:
    """Whether all inputs are constant along the axis: a factor may then be one of values, not of rows."""
    shaped = [v for _, v in floats(w) if v.ndim == w.got.ndim and v.shape[axis] > 1]
    return bool(shaped) and all((v == v.take([0], axis=axis)).all() for v in shaped)


def _range(w: Wrong, amounts: Array, axis: int) -> str:
    """From the least to the greatest of the rows that are wrong."""
    wrong = amounts[w.failing.any(axis=axis, keepdims=True)]
    return f"{wrong.min():.6g} to {wrong.max():.6g}"
