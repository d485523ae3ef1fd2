"""Gradients without the term that goes through a statistic of the row: its sum, mean, norm or variance held constant.

That term is, in every row, a multiple of one tensor, the same all along the row: of x behind a root mean square or a
norm, of x and of ones behind a variance and a mean, of the output (its exponential) behind a softmax.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array
from opproof.harness.diagnose import rows
from opproof.harness.diagnose.region import Mask
from opproof.harness.diagnose.wrong import Wrong
from opproof.reference_ops import Trait

Floats = NDArray[np.float64]

#: So many elements more than numbers taken from the data there must be.
_MORE = 8


def held_constant(w: Wrong) -> str | None:
    """Every row of a gradient off by a multiple of its own of its input, or of the output."""
    if w.mode != "gradient" or w.expected.dtype.kind != "f" or not w.got.ndim:
        return None
    used: Mask = np.isfinite(w.expected) & np.isfinite(w.got)
    if not _has_statistic(w) or not w.failing.any() or (w.failing & ~used).any():
        return None
    off, size = np.where(used, w.got - w.expected, 0), np.abs(w.got) + np.abs(w.expected)
    size = np.where(used, np.maximum(size, 1e-3 * np.median(size[used])), 1.0)
    weight = used / np.square(size / np.max(size))  # of the least the error is rounded least
    for name, basis in _bases(w):
        if not np.isfinite(basis[used]).all():
            continue
        for ones in (False, True):
            for axis in reversed(range(w.got.ndim)):
                free = (1 + ones) * w.got.size // w.got.shape[axis]
                if w.got.size - free < _MORE:
                    continue
                term = _fitted(off, np.where(used, basis, 0), weight, axis, ones=ones)
                if w.fits(np.where(used, w.expected + term, w.got), free=free, through=np.abs(term)):
                    of = f"a multiple of {name}" + " and a constant" * ones
                    return (
                        f"every row of {w.what} along axis {axis} is off by {of}, of its own: as where a statistic of "
                        "the row (its sum, mean, norm or variance) is taken for a constant"
                    )
    return None


def mean_constant(w: Wrong) -> str | None:
    """Every row of a gradient off by a constant of its own: what goes through the row's mean is missing."""
    said = rows.shifts(w) if w.mode == "gradient" and _has_statistic(w) else None
    return None if said is None else f"{said}: as where the mean of the row is taken for a constant"


def _has_statistic(w: Wrong) -> bool:
    """Whether the operator takes one of its rows; of a PyTorch function nobody has said."""
    return Trait.STATISTIC in w.op.traits or w.op.reference is not None


def _bases(w: Wrong) -> Iterator[tuple[str, Array]]:
    """The input itself, and the output where it has the input's shape."""
    x = w.inputs[w.which]
    if x is not None:
        yield str(w.names[w.which]), x
    y, *others = w.posed.outputs
    if not others and y.shape == w.got.shape and y.dtype.kind == "f":
        yield "the output", y
        yield "the output's exponential", np.exp(y)


def _fitted(off: Floats, basis: Floats, weight: Floats, axis: int, *, ones: bool) -> Floats:
    """The multiple of `basis` (and a constant) that is nearest to `off` along the axis, by weighted least squares."""

    def total(v: Floats) -> Floats:
        return np.asarray(np.sum(weight * v, axis=axis, keepdims=True))

    count = np.maximum(total(np.ones_like(off)), np.finfo(np.float64).tiny)
    off_mean, basis_mean = (total(v) / count if ones else np.zeros(count.shape) for v in (off, basis))
    centred = basis - basis_mean
    square = total(centred * centred)
    slope = total(centred * (off - off_mean)) / np.where(square > 0, square, 1)
    return np.asarray(off_mean + slope * centred)
