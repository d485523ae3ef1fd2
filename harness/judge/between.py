"""Gradients at the kinks of a PyTorch function: right between the derivatives on either side."""

from __future__ import annotations

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.harness.judge.bound import STORED, C, Comparison
from opproof.harness.reference.torch.kinks import Between

#: Binary digits of a float32, in which interior arithmetic is no more precise than what is stored.
_WIDE = 24


def excused(got: Array, comparison: Comparison, where: Between, kind: str) -> Comparison:
    """The comparison with what lies between both sides right; not where the sum over all kinks is no subgradient.

    `kind`: the dtype. The bound is that of the side that the reference takes, which may be 0; what is on the other is
    computed and rounded too.
    """
    dtype = DTYPES[kind]
    with np.errstate(all="ignore"):
        side = np.maximum(np.abs(where.low), np.abs(where.high))
        slack = comparison.bound + dtype.u * (C if dtype.digits >= _WIDE else STORED) * side + 1e-9
        mask = where.at & (got >= where.low - slack) & (got <= where.high + slack)
        total, room = float(np.sum(got, where=where.at)), float(np.sum(slack, where=where.at))
        inside = where.sums[0] - room <= total <= where.sums[1] + room
    return comparison.excusing(mask & ~comparison.passed) if inside else comparison
