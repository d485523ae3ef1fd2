"""States that fade step by step, and the same in chunks: by differences of a running sum of logarithms, or wrongly."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from opproof.harness.check.options import CheckOptions  # noqa: E402
from opproof.harness.check.run import check_candidate  # noqa: E402
from opproof.harness.reference.torch.alternatives import widen_truth  # noqa: E402
from opproof.harness.reference.torch.evaluate import TorchQuestion, compute_truth  # noqa: E402

pytestmark = pytest.mark.usefixtures("usual_values")

F = torch.nn.functional
ALONE = CheckOptions(dtype="f32", seconds=1e9, neighbours=False)


def fade(x, logs):
    h, made = torch.zeros_like(x[:, 0]), []
    for t in range(x.shape[1]):
        h = torch.exp(-F.softplus(logs[:, t, None])) * h + x[:, t]
        made.append(h)
    return torch.stack(made, 1)


def fade_by_differences(x, logs, factor=1.0, own=0):
    run = -F.softplus(logs).cumsum(1)
    lag = factor * (run[:, :, None] - run[:, None])
    open_ = torch.ones(lag.shape[1:]).tril(own).bool()
    return lag.masked_fill(~open_, -torch.inf).exp() @ x


def of_logs(factor):
    rng = np.random.default_rng(2)
    x, logs = rng.standard_normal((2, 12, 3)), factor * rng.standard_normal((2, 12))
    return lambda seed: [torch.from_numpy(x).float(), torch.from_numpy(logs).float()]


@pytest.mark.parametrize("factor", [1.0, 30.0])
def test_differences_of_a_running_sum_are_honest(factor):
    assert check_candidate(fade_by_differences, fade, of_logs(factor), ALONE).ok


@pytest.mark.parametrize("fault", [{"factor": 1.0001}, {"own": -1}])
def test_faults_of_theirs_are_found(fault):
    report = check_candidate(lambda *a: fade_by_differences(*a, **fault), fade, of_logs(1.0), ALONE)
    assert {*report.failures} == {"WRONG_VALUE", "WRONG_GRADIENT"}


def mix(gate, value):
    z, u = torch.sigmoid(gate), F.softplus(value) + 0.1
    h, made = torch.zeros_like(u[:, 0]), []
    for t in range(gate.shape[1]):
        h = (1 - z[:, t]) * h + z[:, t] * u[:, t]
        made.append(h)
    return torch.stack(made, 1)


def mix_in_logarithms(gate, value, shift=0.0):
    keep = F.logsigmoid(-gate).cumsum(1)
    come = torch.log(F.softplus(value) + 0.1) + F.logsigmoid(gate + shift)
    return torch.exp(keep + torch.logcumsumexp(come - keep, 1))


@pytest.mark.parametrize(("shift", "verdicts"), [(0.0, set()), (1e-3, {"WRONG_VALUE", "WRONG_GRADIENT"})])
def test_a_scan_in_logarithms_is_honest(shift, verdicts):
    rng = np.random.default_rng(0)
    inputs = [torch.from_numpy(5 * rng.standard_normal((2, 10, 5))).float() for _ in range(2)]
    report = check_candidate(lambda *a: mix_in_logarithms(*a, shift=shift), mix, lambda _: inputs, ALONE)
    assert {*report.failures} == verdicts, report


def widened(function, *inputs):
    g = np.random.default_rng(1).standard_normal(tuple(function(*map(torch.from_numpy, inputs))[0].shape))
    asked = TorchQuestion(function, inputs, (True,) * len(inputs), ("f32",), ("f32",) * len(inputs), (g,))
    known = compute_truth(asked)
    return known, widen_truth(asked, known)


def test_the_gradient_of_a_decay_that_is_0_has_the_roundoff_of_all_that_passes():
    logs = np.full((1, 8), 0.5)
    logs[0, 4] = 100.0
    known, wide = widened(lambda *a: [fade(*a)], np.random.default_rng(0).standard_normal((1, 8, 3)), logs)
    assert abs(known.gradients[1].values[0, 4]) < 1e-40
    assert known.gradients[1].scale[0, 4] < 1e-30
    assert 0.1 < wide.gradients[1].scale[0, 4] < 1000


def test_without_a_loop_a_product_by_a_share_has_no_more():
    share, x = np.random.default_rng(0).random((4, 5)), np.random.default_rng(1).standard_normal((4, 5))
    known, wide = widened(lambda s, x: [s * x + 1], share, x)
    assert np.allclose(wide.outputs[0].scale, known.outputs[0].scale, rtol=2.0)


def test_what_is_divided_by_an_overflow_may_be_0_where_it_is_small_and_nowhere_else():
    top = np.array([[100.0, 100.0]])
    _, small = widened(lambda x, t: [x / torch.exp(t)], np.array([[1.0, 1e6]]), top)
    scale, values = small.outputs[0].scale, small.outputs[0].values
    assert np.all(16 * 2.0**-24 * scale >= 0.99 * np.abs(values))
    _, large = widened(lambda x, t: [x / torch.exp(t)], np.array([[1e38, 2e38]]), top)
    assert np.all(large.outputs[0].scale < 1e3 * np.abs(large.outputs[0].values))
