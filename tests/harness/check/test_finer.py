"""Outputs in float64 of inputs in float32: as exact as the reference itself, and no less."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from opproof.harness.check.options import CheckOptions  # noqa: E402
from opproof.harness.check.run import check_candidate  # noqa: E402


def verdicts(candidate, like, *shapes):
    report = check_candidate(candidate, like, list(shapes), CheckOptions(neighbours=False))
    return [str(r.verdict) for r in report.results]


def widened_late(a, b):
    return torch.float_power(a.abs() + 0.1, b)


def test_a_reference_that_rounds_before_it_widens_is_itself():
    assert verdicts(widened_late, widened_late, (5, 17), (17,)) == ["PASS", "PASS"]
    off = verdicts(lambda a, b: widened_late(a, b) * (1 + 1e-5), widened_late, (5, 17), (17,))
    assert off == ["WRONG_VALUE", "WRONG_GRADIENT"]


def test_one_that_is_exact_stays_exact():
    def widened_first(x):
        return x.double().square().sum(-1)

    def late(x):
        return x.square().sum(-1).double()

    assert verdicts(widened_first, widened_first, (5, 170)) == ["PASS", "PASS"]
    assert verdicts(late, widened_first, (5, 170))[0] == "WRONG_VALUE"
