"""The noise of single elements in few runs: as much as normal noise in many finds, never systematically more."""

import numpy as np
import pytest

from opproof.cases import Case
from opproof.core.verdicts import MODES
from opproof.harness.reference import error_scale, expected
from opproof.harness.reference.montecarlo.sampling import Orthogonal, count_runs
from opproof.harness.reference.question import make_question
from opproof.reference_ops import load

OPS = ("exp", "gelu", "silu", "tanh", "mish", "softplus", "hardswish", "log1p", "sinh", "erf", "rsqrt")


def test_columns_are_orthogonal():
    draws = Orthogonal(8)
    columns = np.array([draws.added(np.zeros((8, 1)), 1.0).ravel() for _ in range(8)])
    assert np.array_equal(columns @ columns.T, 8 * np.eye(8))
    assert [count_runs(n) for n in (1, 3, 4, 5, 8, 9, 32)] == [4, 4, 4, 8, 8, 16, 32]


@pytest.mark.parametrize("name", OPS)
@pytest.mark.parametrize("mode", MODES)
def test_scales_are_those_of_normal_noise(name, mode, monkeypatch):
    case = Case.parse(f"{name}[x=64x64;f16;fill=every:5/16]")  # numbers of 0.004 to 8
    posed = make_question(case, load(name), mode).case_data
    few = expected.evaluate_expected(posed)[0].scale
    monkeypatch.setattr(error_scale, "is_every", lambda _: False)
    many = expected.evaluate_expected(posed.given(runs=256, together=256))[0].scale
    counts = many > 0
    assert counts.any()
    ratio = few[counts] / many[counts]
    assert 0.9 < np.median(ratio) < 1.1
    assert ratio.min() > 0.7
    assert ratio.max() < 1.4
