"""Errors that are the same all along a row: each row times a factor of its own, or shifted by a constant of its own.

A sum, a mean or a root that was wrong for the row does that: eps outside the root, an exponential left out of a
softmax, a normalisation that forgot a term.
"""

from __future__ import annotations

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.harness.diagnose.region import Mask
from opproof.harness.diagnose.regions import floats
from opproof.harness.diagnose.wrong import Wrong
from opproof.harness.judge.bound import C

#: So many elements more than rows there must be: as many as the numbers taken from the data explain anything.
_MORE = 8
#: Rows of which the signs tell something, and units of a precision that their factors are off at least.
_SEVERAL, _NEAR = 5, 0.05
#: Precisions that a statistic may be rounded to, and how they are told: tf32 has the digits of f16.
_ROUNDED = {"f16": "f16 or tf32", "bf16": "bf16"}


def factors(w: Wrong) -> str | None:
    """Every row the expected one times its own factor, fitted by least squares."""
    for axis, used in _axes(w):
        factor = _fitted(w, axis, used)
        fits = w.fits(np.where(used, factor * w.expected, _otherwise(w)), free=factor.size)
        if fits and not _one_for_all(w, factor, axis, used) and not _rounding(w, factor[factor != 0] - 1):
            between = _range(w, factor, axis, used)
            return f"every row of {w.what} along axis {axis} is a factor of its own × the expected one, {between}"
    return None


def rounded_statistic(w: Wrong) -> str | None:
    """Every row a factor of its own, now above 1 and now below, as far as rounding its root or its sum makes it."""
    if DTYPES[w.dtype].digits < 24:
        return None  # it is what such rows look like without a fault
    for axis, used in _axes(w):
        factor = _fitted(w, axis, used)
        off = factor[np.isfinite(factor) & (factor != 0)] - 1
        rms = float(np.sqrt(np.mean(np.square(off))))
        both = 0.15 <= np.mean(off > 0) <= 0.85
        fits = off.size >= _SEVERAL and w.fits(np.where(used, factor * w.expected, _otherwise(w)), free=factor.size)
        for name, told in _ROUNDED.items() if fits and both else ():
            u = DTYPES[name].u
            if _NEAR * u < rms < u and np.abs(off).max() < C * u:
                return (
                    f"looks like {told} arithmetic: every row of {w.what} along axis {axis} is a factor of its "
                    f"own × the expected one, {rms / u:.2g} units from 1, as where a statistic of the row is rounded"
                )
    return None


def _fitted(w: Wrong, axis: int, used: Mask) -> Array:
    """The factor of every row, by least squares."""
    square, product = (np.where(used, v * w.expected, 0) for v in (w.expected, w.got))
    total = np.sum(square, axis=axis, keepdims=True)
    return np.asarray(np.sum(product, axis=axis, keepdims=True) / np.where(total > 0, total, 1))


def _one_for_all(w: Wrong, factor: Array, axis: int, used: Mask) -> bool:
    """Whether the rows that are wrong have one factor: then it is where they lie that tells, not the factor."""
    wrong, one = _usual(w, factor, axis)
    return w.fits(np.where(used & wrong, one * w.expected, _otherwise(w)), free=1)


def _usual(w: Wrong, values: Array, axis: int) -> tuple[Mask, float]:
    """The rows in which something is wrong, and the median of their values."""
    wrong: Mask = np.asarray(w.failing.any(axis=axis, keepdims=True))
    return wrong, float(np.median(values[wrong]))


def shifts(w: Wrong) -> str | None:
    """Every row the expected one plus its own constant; where infinities came for numbers, that would be half of it."""
    if (w.failing & ~np.isfinite(w.got)).any():
        return None
    for axis, used in _axes(w):
        size = np.where(used, np.abs(w.got) + np.abs(w.expected), np.inf)  # of the least the error is rounded least
        shift = np.take_along_axis(w.got - w.expected, np.argmin(size, axis=axis, keepdims=True), axis)
        candidate = np.where(used, w.expected + shift, _otherwise(w))
        fits = w.fits(candidate, free=shift.size, through=w.expected)
        wrong, one = _usual(w, shift, axis)
        if fits and w.fits(np.where(used & wrong, w.expected + one, _otherwise(w)), free=1, through=w.expected):
            return f"the wrong rows of {w.what} along axis {axis} are off by one constant, {one:.6g}"
        if fits and not _rounding(w, shift / np.median(np.abs(w.expected[used]))):
            between = _range(w, shift, axis, used)
            return f"every row of {w.what} along axis {axis} is off by a constant of its own, {between}"
    return None


def _axes(w: Wrong) -> list[tuple[int, Mask]]:
    """Axes of rows that are not all one number, and several of them wrong; the last axis first, where most rows are.

    With the elements of which there is something to say: those expected to be finite, in rows that are.
    """
    if w.expected.dtype.kind != "f" or w.got.ndim < 2:
        return []
    finite = np.isfinite(w.expected)
    found = []
    for axis in reversed(range(w.got.ndim)):
        lost = (finite & ~np.isfinite(w.got)).any(axis=axis, keepdims=True)  # divided by a sum that was zero
        used = finite & ~lost & (w.expected != 0)  # a row of one number beside zeros has any factor
        most, least = (np.where(used, sign * w.expected, -np.inf).max(axis=axis, keepdims=True) for sign in (1, -1))
        several = most > -least
        count = int((used & several).sum() - several.sum())
        wrong = np.any(w.failing & used, axis=axis, keepdims=True) & several
        if count >= _MORE and wrong.sum() > 1 and not _same_along(w, axis):
            found.append((axis, used))
    return found


def _rounding(w: Wrong, amounts: Array) -> bool:
    """Whether amounts (relative) are of both signs and no more than what one rounding to 16 bits or several make."""
    kind = DTYPES[w.dtype]
    both = (amounts > 0).any() and (amounts < 0).any()
    return kind.digits < 24 and bool(both and np.abs(amounts).max() < C * kind.u)


def _otherwise(w: Wrong) -> Array:
    """What is expected; where that is lost, what is there."""
    return np.where(np.isfinite(w.expected) & ~np.isfinite(w.got), w.got, w.expected)


def _same_along(w: Wrong, axis: int) -> bool:
    """Whether all inputs are constant along the axis: a factor may then be one of values, not of rows."""
    shaped = [v for _, v in floats(w) if v.ndim == w.got.ndim and v.shape[axis] > 1]
    return bool(shaped) and all((v == v.take([0], axis=axis)).all() for v in shaped)


def _range(w: Wrong, amounts: Array, axis: int, used: Mask) -> str:
    """From the least to the greatest of the rows that are wrong."""
    wrong = amounts[np.any(w.failing & used, axis=axis, keepdims=True)]
    return f"{wrong.min():.6g} to {wrong.max():.6g}"
