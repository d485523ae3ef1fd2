"""Subnormals taken for zero, wherever a reference computes them."""

import numpy as np
import pytest
from _ask import judged

from opproof.backends.numpy import NumPy
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


@pytest.mark.parametrize("case", ["softmax[x=0d;dim=-1;f32]", "sum[x=0d;dim=0;f32]", "mean[x=0d;dim=-1;f16]"])
def test_a_wrong_answer_to_one_number_is_judged(case):
    """NumPy takes the axis of a number that has none, and sums along it."""

    class Large(NumPy):
        def forward(self, op, inputs, params, out=None):
            return [y * y.dtype.type(1.25) for y in super().forward(op, inputs, params, out)]

    assert judged(Large(), case).verdict == "WRONG_VALUE"
    assert judged(NumPy(), case).verdict in {"PASS", "VACUOUS"}
