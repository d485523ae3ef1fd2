"""By how much, and in how many elements, an answer has to be off at values that inputs seldom have."""

from types import SimpleNamespace

import numpy as np
import pytest

from opproof.harness.check.judge.outcome import _is_little_off


@pytest.mark.parametrize(
    ("wrong", "bounds", "little"),
    [(100, 7.0, True), (100, 9.0, False), (3, 9.0, True), (3, 31.0, True), (3, 33.0, False), (5, 9.0, False)],
)
def test_much_in_few_elements_is_little_and_in_many_is_not(wrong, bounds, little):
    shares = np.full(1024, 0.5)
    shares[:wrong] = bounds
    assert _is_little_off(SimpleNamespace(shares=shares, passed=shares <= 1)) is little
