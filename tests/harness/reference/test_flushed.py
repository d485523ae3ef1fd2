"""Subnormals taken for zero, wherever a reference computes them."""

import numpy as np

from opproof.harness.reference.question import FlushingArray, wrap_flushing


def test_flushing_stores_after_a_selection():
    x = np.where(np.array([True, False]), wrap_flushing(np.array([2.0, 3.0]), 1.0), 4.0)
    assert isinstance(x, FlushingArray)
    assert (x * 0.3).tolist() == [0.0, 1.2]
    assert all(isinstance(v, FlushingArray) for v in np.split(x, 2))
