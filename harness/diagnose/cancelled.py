"""A variance as the difference E[x²] - E[x]²: its errors are those of x², however small the variance is.

T. F. Chan, G. H. Golub, R. J. LeVeque: *Algorithms for computing the sample variance: analysis and recommendations*.
The American Statistician 37, 1983.
"""

from __future__ import annotations

import numpy as np

from opproof.core.dtypes import DTYPES
from opproof.core.verdicts import Mode
from opproof.harness.diagnose.wrong import Wrong
from opproof.reference_ops import Trait

#: Units of the rounding of x² that errors have: at most, and the median of the wrong ones at least; how much smaller
#: than x² what is expected is, and how many elements there are at least.
_MOST, _LEAST, _SMALL, _FEWEST = 8.0, 0.02, 2.0**-6, 4


def squares(w: Wrong) -> str | None:
    """Of a variance, or of its root, of numbers far from 0: sums are those of float32 where the dtype has 16 bits."""
    x = w.inputs[0]
    if w.mode is not Mode.FORWARD or Trait.STATISTIC not in w.op.traits or x is None or x.size <= w.got.size:
        return None
    if "correction" not in w.params or not np.isfinite(x).all() or w.failing.sum() < _FEWEST:
        return None
    kind = DTYPES[w.dtype]
    u, stored = (DTYPES["f32"].u, 2 * kind.u) if kind.narrow else (kind.u, 0.0)
    square = float(np.max(np.abs(x))) ** 2
    for power in (1, 2):  # a variance, and a deviation
        expected, got = w.expected**power, np.sign(w.got) * np.abs(w.got) ** power
        error = np.abs(got - expected) - stored * power * np.abs(expected)
        small = np.median(expected) < _SMALL * square
        near = (error <= _MOST * u * square).all() and np.median(error[w.failing]) >= _LEAST * u * square
        if small and near:
            units = error.max() / (u * square)
            return (
                f"{w.what} has errors of the size that x² is rounded by (at most {units:.2g} units), however small it "
                "is: as where it is the difference of E[x²] and E[x]²"
            )
    return None
