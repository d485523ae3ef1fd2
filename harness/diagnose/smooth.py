"""Errors that follow a value: their signs change seldom as it grows. A formula's do that, those of rounding do not.

The runs test of A. Wald and J. Wolfowitz: *On a test whether two samples are from the same population*. Annals of
Mathematical Statistics 11, 1940.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.harness.diagnose.regions import floats
from opproof.harness.diagnose.wrong import Wrong

#: Standard deviations that so few runs, or such a correlation, are off the mean; elements that are looked at, for
#: neighbours that are too near each other are rounded alike.
_FEW, _FEWEST, _MOST = 3.5, 8, 64


def follows(w: Wrong) -> bool:
    """Whether the errors that are more than the rounding of the result are a formula's."""
    if w.expected.dtype.kind != "f":
        return False
    error = w.got - w.expected
    sure = np.isfinite(error) & (np.abs(error) > 2 * DTYPES[w.dtype].u * np.abs(w.expected))
    relative = np.sign(error * w.expected)[sure]
    if relative.size < _FEWEST:
        return False
    if np.unique(np.abs(w.expected[sure])).size >= _FEWEST and abs(relative.sum()) == relative.size:
        return True  # all too large, or all too small
    if any(_seldom(key[sure], error[sure]) or _seldom(key[sure], relative) for key in _keys(w)):
        return True
    step = _step(w)
    return step is not None and _in_step(step[sure], error[sure])


def _step(w: Wrong) -> Array | None:
    """By how much a tensor moves whose next value the output is, as the parameters of an optimizer do."""
    before = next((v for name, v in zip(w.names, w.inputs, strict=True) if name == w.what), None)
    return None if before is None or before.shape != w.expected.shape else w.expected - before


def _in_step(step: Array, error: Array) -> bool:
    """Whether errors grow with the steps, by R. A. Fisher's transformation of their correlation."""
    sizes = np.std(step), np.std(error)
    if not np.isfinite(sizes).all() or min(sizes) == 0:
        return False
    correlation = np.mean((step - step.mean()) / sizes[0] * (error - error.mean()) / sizes[1])
    return bool(np.arctanh(min(abs(correlation), 1 - 1e-9)) * np.sqrt(step.size - 3) > _FEW)


def _keys(w: Wrong) -> Iterator[Array]:
    yield w.expected
    yield from (v for _, v in floats(w) if v.shape == w.got.shape and np.isfinite(v).all())


def _seldom(key: Array, error: Array) -> bool:
    """Whether the signs of errors come in few runs, along a key; what is twice there counts once."""
    values, first = np.unique(key, return_index=True)
    if values.size < 2 * _FEWEST:
        return False
    chosen = first[np.unique(np.linspace(0, values.size - 1, min(values.size, _MOST)).astype(int))]
    above = error[chosen] > 0
    n, m = int(above.sum()), int((~above).sum())
    if min(n, m) < 2:
        return min(n, m) == 0
    mean = 2 * n * m / (n + m) + 1
    deviation = np.sqrt((mean - 1) * (mean - 2) / (n + m - 1))
    return bool(1 + np.count_nonzero(above[1:] != above[:-1]) < mean - _FEW * deviation)
