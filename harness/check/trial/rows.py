"""Whether an RMS is too large by what rows show, each of which may have one error for all of its elements.

The ratio of two probabilities is off by one rounding of a logsumexp, and so is every gradient of its row: of twelve
rows the RMS is that of twelve errors, however many elements they have.
"""

from __future__ import annotations

import numpy as np

from opproof.core.arrays import Array

#: Standard errors by which the mean of the rows' squares has to lie above what is allowed.
_CLEARLY = 2.0
#: Rows of which something can be told.
_FEWEST = 8
#: And of which each is one error throughout: so many, whose elements part by no more than this part of it.
_SEVERAL, _ONE = 2, 0.1


def clear_of_rows(signed: Array, most: float) -> bool:
    """Whether the mean square of units, NaN where one does not count, is clearly above that of `most`, by rows.

    True where there are no rows to tell it by.
    """
    if signed.ndim < 2 or not signed.size:
        return True
    units = signed.reshape(-1, signed.shape[-1])
    units = units[np.isfinite(units).any(-1)]
    rows = np.nanmean(np.square(units), -1)
    if len(rows) < _FEWEST and (len(rows) < _SEVERAL or not _is_one_error(units, rows)):
        return True
    return bool(rows.mean() - _CLEARLY * rows.std(ddof=1) / np.sqrt(len(rows)) > most * most)


def _is_one_error(units: Array, squares: Array) -> bool:
    """Whether all elements of each row are off by the same, as what one weight is multiplied with is."""
    return bool(np.all(np.nanstd(units, -1) <= _ONE * np.sqrt(squares)))
