"""Gradients at the kinks of a PyTorch function: right between the derivatives on either side."""

from __future__ import annotations

import numpy as np

from opproof.harness.judge.bound import Comparison
from opproof.harness.truth.torch.kinks import Between
from opproof.vocabulary.arrays import Array


def excused(got: Array, comparison: Comparison, where: Between) -> Comparison:
    """The comparison with what lies between both sides right; not where the sum over all kinks is no subgradient."""
    with np.errstate(all="ignore"):
        slack = comparison.bound + 1e-9
        mask = where.at & (got >= where.low - slack) & (got <= where.high + slack)
        total, room = float(np.sum(got, where=where.at)), float(np.sum(slack, where=where.at))
        inside = where.sums[0] - room <= total <= where.sums[1] + room
    return comparison.excusing(mask & ~comparison.passed) if inside else comparison
