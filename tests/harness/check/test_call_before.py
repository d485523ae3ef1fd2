"""A wrong answer that is right for an input of the call before; and one that only looks so, by chance."""

from functools import partial
from types import SimpleNamespace

import pytest

import opproof
from opproof.core.verdicts import Verdict
from opproof.harness.check.call.exchange import Reply
from opproof.harness.check.run_variant import call_three_times

INPUTS = [(8, 9), (8, 9)]
judged = partial(opproof.check, inputs=INPUTS, seconds=5, gradients=False, raises=False)


def scaled(x, w):
    return x * w


def test_what_is_kept_by_shape_is_named():
    cache = {}
    report = judged(lambda x, w: x * cache.setdefault(w.shape, w.clone()), like=scaled)
    assert report.worst.message == "it is right for w of the call before, which it seems to have kept"


def test_a_number_that_is_off_by_little_is_not_said_to_be_of_the_call_before():
    def mean(x, w):
        return (x * w).mean() + w.square().mean() * 100

    report = judged(lambda x, w: mean(x, w) * 1.004, like=mean)
    assert report.failures
    assert not any("call before" in r.message for r in report.results)


def test_no_number_is_not_of_the_call_before():
    report = judged(lambda x, w: x * w * float("nan"), like=scaled)
    assert not any("call before" in r.message for r in report.results)


@pytest.mark.parametrize(("cause", "calls"), [(Verdict.TIMEOUT, 1), (Verdict.CRASH, 1), (Verdict.ERROR, 3)])
def test_who_gives_no_answer_is_not_asked_again(cause, calls):
    asked = []

    def ask(request):
        asked.append(request)
        return Reply(error="gone", cause=cause)

    replies = call_three_times(ask, SimpleNamespace(request="a"), SimpleNamespace(request="b"))
    assert [r.error for r in replies] == ["gone"] * 3
    assert len(asked) == calls


def test_statistics_in_a_ring_that_holds_a_few_forwards():
    """A network calls one kernel for each of its layers before the first backward."""
    torch = pytest.importorskip("torch")

    class Scaled(torch.autograd.Function):
        ring, turn = {}, 0

        @staticmethod
        def forward(ctx, x):
            ctx.place = (x.shape, Scaled.turn % 24)
            Scaled.turn += 1
            Scaled.ring[ctx.place] = torch.cos(x)
            return torch.sin(x)

        @staticmethod
        def backward(ctx, g):
            return g * Scaled.ring[ctx.place]

    report = opproof.check(Scaled.apply, like=torch.sin, inputs=[(5, 24)], seconds=0.1, raises=False)
    assert {(r.verdict, r.mode) for rs in report.failures.values() for r in rs} == {("WRONG_GRADIENT", "gradient")}
    assert "another call comes before its backward" in str(report)
