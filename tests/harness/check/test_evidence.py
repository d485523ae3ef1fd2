"""What passes where little could fail: an array that is the right answer by its definition is none of that."""

from functools import partial

import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402


def residual(x, r):
    return torch.tanh(x) * 2 + r


def centred(x, bias):
    y = torch.tanh(x) + bias
    return y - y.mean(0)


judged = partial(opproof.check, seconds=0.1, raises=False, only="as given")


def test_a_gradient_that_is_what_comes_in():
    inputs = [(5, 24), (5, 24)]
    assert not judged(residual, like=residual, inputs=inputs).no_evidence

    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, r):
            ctx.save_for_backward(x)
            return residual(x, r)

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * g * (1 - torch.tanh(x) ** 2), g * 1.02

    report = judged(Scaled.apply, like=residual, inputs=inputs)
    assert {r.verdict for rs in report.failures.values() for r in rs} == {"WRONG_GRADIENT"}


def test_a_gradient_that_is_zero_but_for_roundings():
    assert not judged(centred, like=centred, inputs=[(5, 24), (24,)]).no_evidence


def test_a_value_that_a_copy_of_an_input_passes_for_still_proves_nothing():
    def nearly(x):
        return x + 1e-9 * torch.tanh(x)

    assert "a copy of an input would pass as y0 too" in judged(nearly, like=nearly, inputs=[(5, 24)]).no_evidence
