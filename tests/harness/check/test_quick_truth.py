"""What a check saves: runs of noise where an answer is clear, and what surrounds a call of the reference."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from torch.utils._pytree import tree_flatten  # noqa: E402

from opproof.core.verdicts import Verdict  # noqa: E402
from opproof.harness.check.call.exchange import CallRequest  # noqa: E402
from opproof.harness.check.call.reference import Reference  # noqa: E402
from opproof.harness.check.call.subject import Form  # noqa: E402
from opproof.harness.check.tensors import CallTensor  # noqa: E402
from opproof.harness.check.variants.arguments import Arguments  # noqa: E402
from opproof.harness.judge.array_statistics import ArrayStatistics  # noqa: E402
from opproof.harness.judge.judgement import Judgement  # noqa: E402
from opproof.harness.reference.torch import evaluate  # noqa: E402
from opproof.harness.reference.torch.evaluate import TorchQuestion, compute_truth, iter_truths  # noqa: E402


@pytest.mark.parametrize(
    ("units", "rms", "bias", "within"),
    [(7.9, 1.4, -1.2, True), (8.1, 1.4, 0.0, False), (7.0, 1.6, 0.0, False), (7.0, 1.4, -1.3, False)],
)
def test_half_of_each_allowance_is_well_within(units, rms, bias, within):
    """By an element, by the RMS of an array, and by its mean: a bound of four runs may be twice as wide."""
    judged = Judgement(Verdict.PASS, units=units, limit=16.0, figures=ArrayStatistics(rms=rms, bias=bias))
    assert judged.is_well_within(0.5) is within


class Never:
    """Whether time is over: every evaluation holds it."""

    def __call__(self):
        return False


def test_a_truth_leaves_nothing_behind():
    """Hooks of stored casts lie in PyTorch's graph, where Python's collector sees no circle: 8 MB an evaluation."""
    x, late = np.linspace(-2.0, 2.0, 12), Never()
    kinds = {"dtypes": ("bf16",), "kinds": ("bf16",), "casts": ((1, "bf16"), (2, "bf16")), "late": late}
    held = weakref.ref(late)
    compute_truth(
        TorchQuestion(lambda x: [x.to(torch.bfloat16).double().exp()], (x,), (True,), cotangents=(x,), **kinds)
    )
    del late, kinds
    gc.collect()
    assert held() is None


def test_later_runs_go_on_from_the_first(monkeypatch):
    """A truth of four runs, then of sixteen: the four are not evaluated again, and the last is the usual truth."""
    x = np.linspace(-2.0, 2.0, 12)
    question = TorchQuestion(lambda x: [x.exp().cumsum(0)], (x,), (False,), ("f32",), ("f32",))
    usual, calls, own = compute_truth(question, 16), [], evaluate.evaluate_question
    monkeypatch.setattr(evaluate, "evaluate_question", lambda *args: calls.append(1) or own(*args))
    quick, full = iter_truths(question, (4, 16))
    assert len(calls) == 1 + 16
    assert np.array_equal(full.outputs[0].scale, usual.outputs[0].scale)
    assert not np.array_equal(quick.outputs[0].scale, usual.outputs[0].scale)


class Stochastic(torch.autograd.Function):
    """The identity, with a gradient that is rounded at random."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return g + torch.rand_like(g)


@pytest.mark.parametrize(
    ("function", "draws"), [(Stochastic.apply, 1), (torch.exp, 0), (lambda x: x * torch.rand(3), 1)]
)
def test_what_a_backward_draws_is_kept(function, draws):
    """Beside what the call draws; nothing of what surrounds them."""
    reference = Reference(function, Form(Arguments((None,), (0,), tree_flatten((0,))[1]), 1))
    x = CallTensor("x", np.ones(3), "float32")
    reply = reference.call_native(CallRequest((x,), (np.ones(3),), (True,)))
    assert (reply.error, len(reply.draws)) == ("", draws)
