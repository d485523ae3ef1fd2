"""Subnormals taken for zero, wherever a reference computes them."""

import numpy as np

from opproof.core.dtypes import DTYPES
from opproof.harness.reference.rounded_arithmetic import RoundedArithmetic, RoundedArray, unwrap, wrap

FLUSHES = RoundedArithmetic(DTYPES["f64"], DTYPES["f64"], tiny=1.0)


def test_flushing_stores_after_a_selection():
    x = np.where(np.array([True, False]), wrap(np.array([2.0, 3.0]), FLUSHES), 4.0)
    assert isinstance(x, RoundedArray)
    assert unwrap(x * 0.3).tolist() == [0.0, 1.2]
    assert all(isinstance(v, RoundedArray) for v in np.split(x, 2))


def test_sums_in_place_and_results_with_names_are_flushed_too():
    target = wrap(np.zeros(2), FLUSHES)
    np.add.at(target, np.array([0, 1]), np.array([0.5, 2.0]))
    assert unwrap(target).tolist() == [0.0, 2.0]
    assert unwrap(np.linalg.slogdet(wrap(np.eye(2) * np.exp(0.25), FLUSHES)).logabsdet).tolist() == 0.0
