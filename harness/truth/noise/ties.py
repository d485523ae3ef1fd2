"""Sums of few different numbers, whose roundings all go one way: their error grows with the number of terms.

Added to partial sums of one binade, equal terms are rounded to the same side each time; the root of their number,
which independent roundings would grow by, is too little. So such a sum is made in float32, term after term, forwards
and backwards, and what it is off by counts where it is more than the noise.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.core.dtypes import DTYPES

Floats = NDArray[Any]

#: Terms below which no bias is larger than the noise; how many of a row are looked at, that many of them differ, or so
#: many are one number: half of a row of softmax is exp(0), where half of its input is 0.
_LEAST, _LOOKED, _DIFFERENT, _ALIKE = 64, 256, 1 / 4, 1 / 4
#: Roundoffs of a sequential sum that make one unit: an honest sum has an RMS of 2 then.
_UNIT = 2.0
#: Multiplications beyond which a product of matrices is not made term after term.
_MOST = 2**24
_U = DTYPES["f32"].u


def tied(terms: Floats) -> bool:
    """Whether rows (..., n) hold few different numbers, or one often; of the first, the middle and the last row."""
    count = terms.shape[-1]
    if count < _LEAST or not terms.size or terms.dtype.kind != "f":
        return False
    rows = terms.reshape(-1, count)
    some = (rows[i, :_LOOKED] for i in {0, len(rows) // 2, len(rows) - 1})
    return any(_is_tied(row) for row in some)


def _is_tied(row: Floats) -> bool:
    numbers, counts = np.unique(row, return_counts=True)
    often = counts[numbers != 0].max(initial=0)  # nothing is rounded where 0 is added
    return len(numbers) <= _DIFFERENT * len(row) or often >= _ALIKE * len(row)


def lean(terms: Floats, exact: Floats) -> Floats:
    """Roundings that account for the error of sums (...) of rows (..., n) in float32; 0 where none are tied."""
    if not tied(terms):
        return np.zeros(exact.shape)
    narrow = terms.astype(np.float32)
    forwards, backwards = (np.add.accumulate(narrow[..., ::step], axis=-1)[..., -1] for step in (1, -1))
    return np.asarray(np.maximum(_roundings(forwards, exact), _roundings(backwards, exact)))


def lean_of_scan(terms: Floats, exact: Floats, axis: int, added: np.ufunc = np.add) -> Floats | float:
    """The same of every partial sum along an axis, by `added`."""
    if not tied(np.moveaxis(terms, axis, -1)):
        return 0.0
    return _roundings(added.accumulate(terms.astype(np.float32), axis=axis), exact)


def lean_of_products(a: Floats, b: Floats, exact: Floats) -> Floats | float:
    """The same of a product of matrices (..., m, k) and (..., k, n)."""
    if exact.size * a.shape[-1] > _MOST or not (tied(a) and tied(np.swapaxes(b, -1, -2))):
        return 0.0
    left, right = a.astype(np.float32), b.astype(np.float32)
    total = np.zeros(exact.shape, np.float32)
    for k in range(a.shape[-1]):
        total += left[..., :, k, None] * right[..., None, k, :]
    return _roundings(total, exact)


def _roundings(narrow: Floats, exact: Floats) -> Floats:
    return np.asarray(np.nan_to_num(np.abs(narrow - exact) / (_U * _UNIT), nan=0.0, posinf=0.0))
