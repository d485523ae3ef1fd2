"""Products of matrices in the arithmetic of a format, where leading axes are broadcast."""

import numpy as np
import pytest

from opproof.harness.reference.rounded_arithmetic import iter_arithmetics, unwrap, wrap


@pytest.mark.parametrize(
    ("left", "right"), [((4, 27), (2, 27, 5)), ((2, 4, 27), (27, 5)), ((3, 1, 4, 27), (2, 27, 5)), ((27,), (2, 27, 5))]
)
def test_a_product_broadcasts_leading_axes(left, right):
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal(left), rng.standard_normal(right)
    how = next(iter_arithmetics("f16", "f16", "key"))
    got = unwrap(np.matmul(wrap(a, how), wrap(b, how)))
    assert got.shape == np.matmul(a, b).shape
    errors = abs(got - np.matmul(a, b))
    assert 0 < errors.max() < 0.1  # sums of 27 terms in f16, and no exact product
