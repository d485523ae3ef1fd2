"""An RMS of few rows, each of which has one error for all of its elements, is that of so many errors."""

import numpy as np
import pytest

from opproof.harness.check.judge.compare import clear_of_rows

WEIGHTS = np.array([-1.4, -1.0, -2.1, -9.1, 0.0, 0.0])
NOISE = np.random.default_rng(0).standard_normal((6, 8))


@pytest.mark.parametrize(
    ("units", "is_clear"),
    [
        (np.repeat(WEIGHTS[:, None], 8, 1), False),  # one of six weights is off by much
        (WEIGHTS[:, None] * (1 + 0.01 * NOISE), False),
        (np.full((6, 8), 4.0), True),  # all of them are, by the same: a factor
        (4 * NOISE, True),  # elements of their own: no rows to tell it by
        (np.full((1, 8), 4.0), True),  # one row, which says nothing of itself
        (np.full((6, 8), 2.0), False),
    ],
)
def test_what_few_rows_show(units, is_clear):
    assert clear_of_rows(units, 3.0) is is_clear


def test_rows_of_which_nothing_counts():
    units = np.repeat(WEIGHTS[:, None], 8, 1)
    assert not clear_of_rows(np.concatenate([units, np.full((40, 8), np.nan)]), 3.0)
