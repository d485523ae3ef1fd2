"""To which side results lean: by how many units they are off on average, where that is clearly not 0."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.harness.judge.bound import Comparison
from opproof.harness.reference.array_bias import leaning
from opproof.harness.reference.expected import Expected

#: Results that a store could round to either side, at least so many different ones, tell how it does; by
#: so many units, and so many standard errors, may their mean be off.
TELLING = 256
LEAN = 0.3
ERRORS = 8.0
#: Of the scale that a saved output makes, in sizes of the result, where results still tell: each errs for itself.
LOOSE = 2.0
#: The same of independent slices: so many tell, whose elements share the error of what was saved.
SLICES = 64
SHARED = 8.0
#: The same where 16-bit intermediates are declared: results of so many mantissas, with noise of so many sizes of theirs
#: at most. Numbers of float16 times a constant have 1024, and their roundings follow one another in order.
STORED_TELLING = 2000
NOISY = 8.0
#: Fills whose slices are like each other in nothing.
ORDINARY = frozenset({"normal", "wide"})


def lean(got: NDArray[np.float64], values: Array, nearest: Array, mask: NDArray[np.bool_], dtype: str) -> float | None:
    """By how many units results are off on average from those rounded to nearest; 0.0 if not clearly, None if too few.

    Where storing is most of what is rounded. Each value once: a constant that fills an array is rounded to the same
    side everywhere. None that lies in the middle of two numbers: either is the nearest.
    """
    chosen = mask & np.isfinite(nearest) & ~_in_the_middle(values, nearest, dtype)
    if np.count_nonzero(chosen) < TELLING:
        return None
    values, places = np.unique(values[chosen], return_index=True)
    if values.size < TELLING:
        return None
    off = np.sign(values) * (got[chosen][places] - nearest[chosen][places]) / (DTYPES[dtype].u * np.abs(values))
    return _clear(off)


def _in_the_middle(values: Array, nearest: Array, dtype: str) -> NDArray[np.bool_]:
    """Whether a value is as far from the next number of its dtype as from the nearest, to a hundredth of a step."""
    with np.errstate(all="ignore"):
        step = np.ldexp(2 * DTYPES[dtype].u, np.frexp(values)[1] - 1)
        near: NDArray[np.bool_] = np.abs(values - nearest) > 0.49 * step
        return near


def lean_beside_a_factor(
    got: NDArray[np.float64], expected: Expected, mask: NDArray[np.bool_], dtype: str, slices: NDArray[np.intp]
) -> float | None:
    """The same where 16-bit intermediates are declared, and a constant that is one may move the whole by a unit.

    `got` and `slices` are of the shape of what is expected; elements of one slice may share errors. None where too few
    elements, or slices, tell.
    """
    kind = DTYPES[dtype]
    near = np.abs(expected.values) >= np.maximum(expected.scale / NOISY, kind.tiny)
    values, places = np.unique(expected.values[mask & near], return_index=True)
    if np.unique(np.frexp(np.abs(values))[0]).size < STORED_TELLING:
        return None
    found = leaning(got[mask & near][places] - values, values, kind)
    _, numbers = np.unique(slices[mask & near][places], return_inverse=True)
    if found is None or np.max(numbers) + 1 < SLICES:
        return None
    error = float(np.sqrt(np.sum(np.square(np.bincount(numbers, found.parts)))))
    clear = abs(found.steps) > LEAN + (expected.leaning or 0.0) and abs(found.steps) > ERRORS * error
    return found.units if clear else 0.0


def lean_of_slices(
    got: Array, expected: Expected, comparison: Comparison, dtype: str, alone: tuple[int, ...]
) -> float | None:
    """The same of the means of slices along the axes `alone`; None where those are too few.

    What is saved by row errs once for all of the row, to either side: the rows together lean to none.
    """
    values, u = expected.values, DTYPES[dtype].u
    with np.errstate(all="ignore"):
        off = np.sign(values) * (np.asarray(got, dtype=np.float64) - values) / (u * np.abs(values))
    counts = np.isfinite(comparison.signed) & np.isfinite(off) & (expected.scale <= SHARED * np.abs(values))
    within = tuple(k for k in range(values.ndim) if k not in {a % values.ndim for a in alone})
    number = np.sum(counts, axis=within)
    means = np.sum(np.where(counts, off, 0.0), axis=within)[number > 0] / number[number > 0]
    return _clear(np.unique(means)) if np.unique(means).size >= SLICES else None


def _clear(off: NDArray[np.float64]) -> float:
    mean, error = float(np.mean(off)), float(np.std(off)) / np.sqrt(off.size)
    return 0.0 if abs(mean) <= LEAN or abs(mean) <= ERRORS * error else mean
