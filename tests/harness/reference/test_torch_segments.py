"""Runs of rows and alignments with labels: values and gradients are PyTorch's, and the noise is there."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.core.errors import OpError  # noqa: E402
from opproof.harness.reference.torch.arithmetic import Arithmetic, BranchTape  # noqa: E402
from opproof.harness.reference.torch.evaluate import TorchQuestion, compute_truth, evaluate_question  # noqa: E402

pytestmark = pytest.mark.usefixtures("usual_values")

F = torch.nn.functional


def meets_autograd(f, x, seed=1):
    y = f(torch.from_numpy(x)).detach().numpy()
    g = np.random.default_rng(seed).standard_normal(y.shape)
    asked = TorchQuestion(lambda t: (f(t),), (x,), (True,), ("f32",), ("f32",), (g,))
    leaf = torch.from_numpy(x.copy()).requires_grad_()
    value = f(leaf)
    own = value, *torch.autograd.grad(value, [leaf], torch.from_numpy(g))
    for mine, theirs in zip(evaluate_question(Arithmetic(torch, BranchTape()), asked, 0.0), own, strict=True):
        np.testing.assert_allclose(mine, theirs.detach().numpy(), rtol=1e-9, atol=1e-11)
    known = compute_truth(asked, runs=2)
    assert np.all(np.isfinite(known.gradients[0].scale))
    return known


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.parametrize("reduce", ["sum", "mean", "prod", "max", "min"])
@pytest.mark.parametrize("initial", [None, 0.5])
def test_runs_of_rows(reduce, initial):
    x = normal(7, 3)
    x[1, 0] = x[4:6, 1] = 0.0
    if initial is not None and reduce in ("prod", "max", "min"):
        x = x + 2.5
        initial = 1.0 if reduce == "prod" else {"max": 0.0, "min": 9.0}[reduce]
    lengths = torch.tensor([3, 1, 3]) if initial is None else torch.tensor([3, 0, 1, 3])
    meets_autograd(lambda t: torch.segment_reduce(t, reduce, lengths=lengths, initial=initial), x)
    offsets = torch.tensor([0, 3, 4, 7])
    meets_autograd(lambda t: torch.segment_reduce(t, reduce, offsets=offsets, initial=initial), x)


def test_runs_along_another_axis():
    lengths = torch.tensor([[2, 3], [4, 1]])
    meets_autograd(lambda t: torch.segment_reduce(t, "sum", lengths=lengths, axis=1), normal(2, 5, 3))


TARGETS = torch.tensor([[1, 2, 2, 3], [3, 1, 0, 0], [0, 0, 0, 0]])
LENGTHS = torch.tensor([4, 2, 0])


@pytest.mark.parametrize("joined", [False, True])
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_alignments(joined, reduction):
    targets = torch.cat([TARGETS[0], TARGETS[1, :2]]) if joined else TARGETS

    def f(x):
        steps = torch.tensor([9, 7, 3])
        return F.ctc_loss(x.log_softmax(-1), targets, steps, LENGTHS, reduction=reduction)

    meets_autograd(f, normal(9, 3, 4))


def test_labels_without_an_alignment():
    steps = torch.tensor([4, 2, 3])  # two equal labels need a blank between

    def f(x):
        return F.ctc_loss(x.log_softmax(-1), TARGETS, steps, LENGTHS, zero_infinity=True, reduction="none")

    assert meets_autograd(f, normal(4, 3, 4)).outputs[0].values[0] == 0


LABELS = torch.tensor([0, 1, 0, 2, 0, 2, 0])
NEVER = -1e30


def reference(x):
    return F.ctc_loss(x.log_softmax(-1), torch.tensor([[1, 2, 2]]), [len(x)], [3], reduction="sum")


def in_probabilities(x):
    """The loss of one sequence in probabilities that are scaled at each step."""
    p = x.softmax(-1)[:, LABELS]
    may = torch.tensor([0.0, 0, 0, 1, 0, 0, 0])
    now, total = p[0] * (torch.arange(7) < 2), 0.0
    for t in range(len(x)):
        if t:
            one, two = F.pad(now[:-1], (1, 0)), F.pad(now[:-2], (2, 0))
            now = (now + one + may * two) * p[t]
        total = total + now.sum().log()
        now = now / now.sum()
    return -(total + (now[-2:].sum()).log())


def in_logarithms(x, off=0.0, skip=True):
    p = x.log_softmax(-1)[:, LABELS]
    may = torch.arange(7) == (3 if skip else 7)
    now = torch.where(torch.arange(7) < 2, p[0], NEVER)
    for row in p[1:]:
        one, two = F.pad(now[:-1], (1, 0), value=NEVER), F.pad(now[:-2], (2, 0), value=NEVER)
        now = torch.logsumexp(torch.stack([now, one, torch.where(may, two, NEVER)]), 0) + row
    loss = -torch.logsumexp(now[-2:], 0) + off
    return torch.where(loss > -NEVER / 2, torch.inf, loss)  # of fewer steps than labels


def judged(candidate, **options):
    return opproof.check(candidate, like=reference, inputs=[(9, 4)], raises=False, seconds=1, **options)


def test_another_algorithm_of_the_loss_passes_and_a_missing_skip_fails():
    report = judged(in_logarithms)
    assert report.ok, report
    assert set(judged(lambda x: in_logarithms(x, skip=False)).failures) == {"WRONG_VALUE", "WRONG_GRADIENT"}
    assert "WRONG_VALUE" in judged(lambda x: in_logarithms(x, off=1e-4)).failures


def test_probabilities_of_alignments_underflow_at_large_scores():
    report = judged(in_probabilities, neighbours=False)
    assert report.ok, report
    report = judged(in_probabilities, only="large values")
    assert set(report.failures) == {"WRONG_VALUE", "WRONG_GRADIENT"}


def test_labels_of_no_class_are_an_error_not_damage():
    """PyTorch's ctc_loss reads by them past its memory: the heap was damaged, and a check hung."""
    report = judged(in_logarithms, only="4 as 1")
    assert "labels go from 1 to 2 of 1 classes" in str(report)


def test_a_jagged_tensor_is_judged_by_its_values():
    offsets = torch.tensor([0, 3, 10])

    def reference(x):
        return F.silu(torch.nested.nested_tensor_from_jagged(x, offsets)).values()

    report = opproof.check(F.silu, like=reference, inputs=[torch.linspace(-2, 3, 40).reshape(10, 4)], raises=False)
    assert report.ok, report
    wrong = opproof.check(F.gelu, like=reference, inputs=[torch.linspace(-2, 3, 40).reshape(10, 4)], raises=False)
    assert set(wrong.failures) == {"WRONG_VALUE", "WRONG_GRADIENT"}


@pytest.mark.filterwarnings("ignore:flex_attention called without")
def test_operations_that_take_functions_are_refused_in_a_sentence():
    flex = pytest.importorskip("torch.nn.attention.flex_attention")

    def attention(q, k, v):
        return flex.flex_attention(q, k, v, score_mod=lambda s, b, h, i, j: s + i - j)

    def branch(x):
        return torch.cond(torch.tensor(True), torch.sin, torch.cos, (x,))

    for reference, inputs in ((attention, [(1, 1, 16, 8)] * 3), (branch, [(4, 3)])):
        with pytest.raises(OpError, match="takes functions and compiles them"):
            opproof.check(reference, like=reference, inputs=inputs)
