"""Errors that are the same all along a row: a factor or a constant of its own, or a statistic of it held constant.

A sum, a mean or a root that was wrong for the row does that: eps outside the root, an exponential left out of a
softmax. A gradient without the term through a statistic is off by a multiple of one tensor, the same along the row.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.harness.diagnose.regions import Mask, list_float_inputs
from opproof.harness.diagnose.wrong import WrongTensor
from opproof.harness.judge.bound import C
from opproof.reference_ops import Trait

#: So many elements more than rows there must be: as many as the numbers taken from the data explain anything.
_MIN_ELEMENTS_BEYOND_ROWS = 8
#: Rows of which the signs tell something, and units of a precision that their factors are off at least.
_MIN_SIGNED_ROWS = 5
_MIN_FACTOR_UNITS = 0.05
#: Precisions that a statistic may be rounded to, and how they are told: tf32 has the digits of f16.
_STATISTIC_PRECISIONS = {"f16": "f16 or tf32", "bf16": "bf16"}


def find_row_factors(w: WrongTensor) -> str | None:
    """Every row the expected one times its own factor, fitted by least squares."""
    for axis, used in _find_axes(w):
        factor = _fit_factors(w, axis, used)
        fits = w.fits(np.where(used, factor * w.expected, _fill_lost(w)), free=factor.size)
        told = fits and _differs_from_one(w, factor, axis) and not _has_one_factor(w, factor, axis, used)
        if told and not _is_rounding(w, factor[factor != 0] - 1):
            between = _format_range(w, factor, axis, used)
            return f"every row of {w.what} along axis {axis} is a factor of its own × the expected one, {between}"
    return None


def find_rounded_statistic(w: WrongTensor) -> str | None:
    """Every row a factor of its own, now above 1 and now below, as far as rounding its root or its sum makes it."""
    if DTYPES[w.dtype].digits < 24:
        return None  # it is what such rows look like without a fault
    for axis, used in _find_axes(w):
        factor = _fit_factors(w, axis, used)
        off = factor[np.isfinite(factor) & (factor != 0)] - 1
        rms = float(np.sqrt(np.mean(np.square(off))))
        both = 0.15 <= np.mean(off > 0) <= 0.85
        fits = off.size >= _MIN_SIGNED_ROWS and w.fits(
            np.where(used, factor * w.expected, _fill_lost(w)), free=factor.size
        )
        for name, told in _STATISTIC_PRECISIONS.items() if fits and both else ():
            u = DTYPES[name].u
            if _MIN_FACTOR_UNITS * u < rms < u and np.abs(off).max() < C * u:
                return (
                    f"looks like {told} arithmetic: every row of {w.what} along axis {axis} is a factor of its "
                    f"own × the expected one, {rms / u:.2g} units from 1, as where a statistic of the row is rounded"
                )
    return None


def _fit_factors(w: WrongTensor, axis: int, used: Mask) -> Array:
    square, product = (np.where(used, v * w.expected, 0) for v in (w.expected, w.got))
    total = np.sum(square, axis=axis, keepdims=True)
    return np.asarray(np.sum(product, axis=axis, keepdims=True) / np.where(total > 0, total, 1))


def _differs_from_one(w: WrongTensor, factor: Array, axis: int) -> bool:
    """Whether a row with a wrong number, not with NaN and zeros alone, has a factor that is not that of rounding."""
    some = factor[(w.failing & np.isfinite(w.got)).any(axis=axis, keepdims=True)]
    off = np.abs(some[some != 0] - 1)
    return bool(np.max(off, where=np.isfinite(off), initial=0) > C * DTYPES[w.dtype].u)


def _has_one_factor(w: WrongTensor, factor: Array, axis: int, used: Mask) -> bool:
    """Whether the rows that are wrong have one factor: then it is where they lie that tells, not the factor."""
    wrong, one = _find_usual(w, factor, axis)
    return w.fits(np.where(used & wrong, one * w.expected, _fill_lost(w)), free=1)


def _find_usual(w: WrongTensor, values: Array, axis: int) -> tuple[Mask, float]:
    """The rows in which something is wrong, and the median of their values."""
    wrong: Mask = np.asarray(w.failing.any(axis=axis, keepdims=True))
    return wrong, float(np.median(values[wrong]))


def find_row_shifts(w: WrongTensor) -> str | None:
    """Every row the expected one plus its own constant; where infinities came for numbers, that would be half of it."""
    if (w.failing & ~np.isfinite(w.got)).any():
        return None
    for axis, used in _find_axes(w):
        size = np.where(used, np.abs(w.got) + np.abs(w.expected), np.inf)  # of the least the error is rounded least
        shift = np.take_along_axis(w.got - w.expected, np.argmin(size, axis=axis, keepdims=True), axis)
        candidate = np.where(used, w.expected + shift, _fill_lost(w))
        fits = w.fits(candidate, free=shift.size, through=w.expected)
        wrong, one = _find_usual(w, shift, axis)
        if fits and w.fits(np.where(used & wrong, w.expected + one, _fill_lost(w)), free=1, through=w.expected):
            return f"the wrong rows of {w.what} along axis {axis} are off by one constant, {one:.6g}"
        if fits and not _is_rounding(w, shift / np.median(np.abs(w.expected[used]))):
            between = _format_range(w, shift, axis, used)
            return f"every row of {w.what} along axis {axis} is off by a constant of its own, {between}"
    return None


def _find_axes(w: WrongTensor) -> list[tuple[int, Mask]]:
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
        if count >= _MIN_ELEMENTS_BEYOND_ROWS and wrong.sum() > 1 and not _is_same_along(w, axis):
            found.append((axis, used))
    return found


def _is_rounding(w: WrongTensor, amounts: Array) -> bool:
    """Whether amounts (relative) are of both signs and no more than what one rounding to 16 bits or several make."""
    kind = DTYPES[w.dtype]
    both = (amounts > 0).any() and (amounts < 0).any()
    return kind.digits < 24 and bool(both and np.abs(amounts).max() < C * kind.u)


def _fill_lost(w: WrongTensor) -> Array:
    """What is expected; where that is lost, what is there."""
    return np.where(np.isfinite(w.expected) & ~np.isfinite(w.got), w.got, w.expected)


def _is_same_along(w: WrongTensor, axis: int) -> bool:
    """Whether all inputs are constant along the axis: a factor may then be one of values, not of rows."""
    shaped = [v for _, v in list_float_inputs(w) if v.ndim == w.got.ndim and v.shape[axis] > 1]
    return bool(shaped) and all((v == v.take([0], axis=axis)).all() for v in shaped)


def _format_range(w: WrongTensor, amounts: Array, axis: int, used: Mask) -> str:
    wrong = amounts[np.any(w.failing & used, axis=axis, keepdims=True)]
    return f"{wrong.min():.6g} to {wrong.max():.6g}"


Floats = NDArray[np.float64]

#: So many elements more than numbers taken from the data there must be.
_MIN_ELEMENTS_BEYOND_FITTED = 8


def find_held_constant(w: WrongTensor) -> str | None:
    """Every row of a gradient off by a multiple of its own of its input, or of the output."""
    if w.mode != "gradient" or w.expected.dtype.kind != "f" or not w.got.ndim:
        return None
    used: Mask = np.isfinite(w.expected) & np.isfinite(w.got)
    if not _has_statistic(w) or not w.failing.any() or (w.failing & ~used).any():
        return None
    off, size = np.where(used, w.got - w.expected, 0), np.abs(w.got) + np.abs(w.expected)
    size = np.where(used, np.maximum(size, 1e-3 * np.median(size[used])), 1.0)
    weight = used / np.square(size / np.max(size))  # of the least the error is rounded least
    for name, basis in _iter_bases(w):
        if not np.isfinite(basis[used]).all():
            continue
        for ones in (False, True):
            for axis in reversed(range(w.got.ndim)):
                free = (1 + ones) * w.got.size // w.got.shape[axis]
                if w.got.size - free < _MIN_ELEMENTS_BEYOND_FITTED:
                    continue
                term = _fit_multiple(off, np.where(used, basis, 0), weight, axis, ones=ones)
                if w.fits(np.where(used, w.expected + term, w.got), free=free, through=np.abs(term)):
                    of = f"a multiple of {name}" + " and a constant" * ones
                    return (
                        f"every row of {w.what} along axis {axis} is off by {of}, of its own: as where a statistic of "
                        "the row (its sum, mean, norm or variance) is taken for a constant"
                    )
    return None


def find_constant_mean(w: WrongTensor) -> str | None:
    """Every row of a gradient off by a constant of its own: what goes through the row's mean is missing."""
    said = find_row_shifts(w) if w.mode == "gradient" and _has_statistic(w) else None
    return None if said is None else f"{said}: as where the mean of the row is taken for a constant"


def _has_statistic(w: WrongTensor) -> bool:
    """Whether the operator takes one of its rows; of a PyTorch function nobody has said."""
    return Trait.STATISTIC in w.op.traits or w.op.reference is not None


def _iter_bases(w: WrongTensor) -> Iterator[tuple[str, Array]]:
    """The input itself, and the output where it has the input's shape."""
    x = w.inputs[w.which]
    if x is not None:
        yield str(w.names[w.which]), x
    y, *others = w.posed.outputs
    if not others and y.shape == w.got.shape and y.dtype.kind == "f":
        yield "the output", y
        yield "the output's exponential", np.exp(y)


def _fit_multiple(off: Floats, basis: Floats, weight: Floats, axis: int, *, ones: bool) -> Floats:
    """The multiple of `basis` (and a constant) that is nearest to `off` along the axis, by weighted least squares."""

    def total(v: Floats) -> Floats:
        return np.asarray(np.sum(weight * v, axis=axis, keepdims=True))

    count = np.maximum(total(np.ones_like(off)), np.finfo(np.float64).tiny)
    off_mean, basis_mean = (total(v) / count if ones else np.zeros(count.shape) for v in (off, basis))
    centred = basis - basis_mean
    square = total(centred * centred)
    slope = total(centred * (off - off_mean)) / np.where(square > 0, square, 1)
    return np.asarray(off_mean + slope * centred)
