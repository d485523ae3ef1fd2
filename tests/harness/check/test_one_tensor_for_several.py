"""One tensor in the place of several, as of self attention: its values, and its gradient, the sum of theirs."""

from __future__ import annotations

from functools import partial

import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402

ONE = "one tensor for x and y"


class Products(torch.autograd.Function):
    """x yᵀ; `half` counts one of the two where they are one."""

    @staticmethod
    def forward(ctx, x, y, half):
        ctx.save_for_backward(x, y)
        ctx.same = half and x.data_ptr() == y.data_ptr()
        return x @ y.mT

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g @ y, None if ctx.same else g.mT @ x, None


def reference(x, y):
    return x @ y.mT


def inputs(seed):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(5, 4, generator=generator) for _ in range(2)]


def judged(kernel, **options):
    return opproof.check(kernel, like=reference, inputs=inputs, raises=False, only=ONE, **options)


def test_a_gradient_that_counts_it_once():
    report = judged(lambda x, y: Products.apply(x, y, True))
    (failure,) = [r for rs in report.failures.values() for r in rs]
    assert (failure.verdict, failure.mode) == ("WRONG_GRADIENT", "gradient")
    assert report.variants[failure.case] == ONE


def test_a_right_one_and_values_alone():
    assert judged(lambda x, y: Products.apply(x, y, False)).ok
    assert judged(lambda x, y: Products.apply(x, y, True), gradients=False).ok


def test_of_a_tie_the_gradients_are_one_subgradient():
    def inputs(seed):
        return [torch.randn(9, generator=torch.Generator().manual_seed(seed + 10 * k)) for k in range(2)]

    def larger(x, y):
        return torch.maximum(x, y)

    check = partial(opproof.check, like=larger, inputs=inputs, raises=False, only=ONE)
    for share in (0.0, 0.5, 1.0):
        report = check(lambda x, y, s=share: torch.where(x > y, x, torch.where(x < y, y, s * x + (1 - s) * y)))
        assert not report.failures


def test_one_that_raises_there():
    def kernel(x, y):
        assert x is not y or not x.requires_grad
        return x @ y.mT

    report = judged(kernel)
    assert {r.verdict for rs in report.failures.values() for r in rs} == {"ERROR"}
