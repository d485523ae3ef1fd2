"""Outputs that a mask sets to -inf are constants: what a backward makes of their cotangents is nobody's business."""

import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.core.verdicts import FAILED  # noqa: E402


def kept(x):
    """The two fifths of each row that are largest."""
    return x >= x.sort(-1).values[:, x.shape[-1] * 3 // 5, None]


def masked(x):
    """A sampler's log-probabilities."""
    return x.masked_fill(~kept(x), float("-inf")).log_softmax(-1)


def fused(factor):
    """The same, with a backward that looks at the cotangents of what was kept alone; `factor` is a bug unless 1."""

    class Fused(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            """Of what was kept."""
            y = masked(x.float()).to(x.dtype)
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            """A cotangent less its share of the sum of the row's."""
            (y,) = ctx.saved_tensors
            g = torch.where(y == float("-inf"), 0, g.float())
            return (factor * (g - y.float().exp() * g.sum(-1, keepdim=True))).to(y.dtype)

    return Fused.apply


def draws(seed):
    """Rows of logits."""
    return [torch.randn(7, 35, generator=torch.Generator().manual_seed(seed))]


def test_a_backward_need_not_look_at_what_is_constant():
    assert opproof.check(fused(1), like=masked, inputs=draws, seconds=8).ok


def test_what_is_not_constant_is_judged():
    report = opproof.check(fused(1.01), like=masked, inputs=draws, seconds=8, raises=False)
    assert {(r.mode, r.verdict) for r in report.results if r.verdict in FAILED} == {("gradient", "WRONG_GRADIENT")}
