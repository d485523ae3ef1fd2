"""Numbers that a reference takes out of tensors: their noise goes on, what they decide is exact."""

from __future__ import annotations

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from opproof.harness.check.options import CheckOptions  # noqa: E402
from opproof.harness.check.run import check_candidate  # noqa: E402
from opproof.harness.reference.torch.dtype_leaks import NoisyNumber  # noqa: E402
from opproof.harness.reference.torch.evaluate import TorchQuestion, compute_truth  # noqa: E402

#: A sum of which nothing is left but rounding, in a row of its own.
CANCELS = np.array([[2.0**20 + 1, -(2.0**20), 0.5], [1.0, 2.0, 3.0]])


def scales(f, x=CANCELS):
    asked = TorchQuestion(lambda *t: (f(*t),), (x,), (False,), ("f32",), ("f32",))
    found = compute_truth(asked, runs=32)
    return found.outputs[0].scale, found


def line(x):
    return x.sum(1) * torch.ones(3, 1)


def by_item(x):
    return torch.stack([torch.full((3,), row.sum().item()) for row in x], 1)


def by_list(x):
    first, second = x.sum(1).tolist()
    return torch.stack([torch.ones(3) * first, second * torch.ones(3)], 1)


def by_alpha(x):
    return torch.stack([torch.zeros(3).add_(torch.ones(3), alpha=row.sum()) for row in x], 1)


def by_float(x):
    return torch.stack([torch.ones(3) * float(row.sum()) for row in x], 1)


@pytest.mark.parametrize("f", [by_item, by_list, by_alpha])
def test_the_noise_stores(f):
    np.testing.assert_allclose(scales(f)[0], scales(line)[0], rtol=0.9)
    assert scales(line)[0][0, 0] > 1e5


def test_the_line_is_named_where_it_is_lost():
    scale, found = scales(by_float)
    assert scale[0, 0] < 100
    assert "float(row.sum())" in found.taken[0]
    assert scales(line)[1].taken == ()


def test_decisions_are_those_of_the_exact_evaluation():
    def f(x):
        y = x
        while y.abs().max().item() > 1:
            y = y / 2
        return y if int(x[0, 0].item()) == 4 and sorted(x[0].tolist()) == [1.0, 4.0] else y * torch.nan

    scale, found = scales(f, np.array([[4.0, 1.0]]))
    assert found.outputs[0].values.tolist() == [[1.0, 0.25]]
    assert np.all(scale < 2)


def test_arithmetic_of_numbers():
    x = NoisyNumber(2.0, 2.5)
    for made, exact, noisy in ((1 / x, 0.5, 0.4), (x**2 - x, 2.0, 3.75), (-x + 1, -1.0, -1.5), (abs(-x) * 2, 4.0, 5.0)):
        assert isinstance(made, NoisyNumber)
        assert (float(made), made.noisy) == (exact, noisy)
    assert x == 2.0
    assert x < 2.25
    assert (int(x), x // 1, math.sqrt(x) ** 2) == (2, 2.0, pytest.approx(2))


def norms(x):
    """Distances to the first row, whose number leaves PyTorch."""
    return torch.stack([row / math.sqrt(float((row * row).sum() - 1e4)) for row in x])


def kernel(x):
    return x / ((x * x).sum(1, keepdim=True) - 1e4).sqrt()


def near(seed):
    torch.manual_seed(seed)
    x = torch.randn(4, 3)
    return [x / x.norm(dim=1, keepdim=True) * 100.1]


def test_a_failure_within_what_was_lost_is_inconclusive():
    report = check_candidate(kernel, norms, near, CheckOptions(neighbours=False, dtype="f32", gradients=False))
    assert [str(r.verdict) for r in report.results] == ["INCONCLUSIVE"], report
    assert "math.sqrt(float(" in report.results[0].message
    assert "let it stay a tensor" in report.results[0].message


def test_a_failure_beyond_it_fails():
    report = check_candidate(
        lambda x: kernel(x) * 1.1, norms, near, CheckOptions(neighbours=False, dtype="f32", gradients=False)
    )
    assert [str(r.verdict) for r in report.results] == ["WRONG_VALUE"], report
    report = check_candidate(kernel, kernel, near, CheckOptions(neighbours=False, dtype="f32", gradients=False))
    assert [str(r.verdict) for r in report.results] == ["PASS"], report
