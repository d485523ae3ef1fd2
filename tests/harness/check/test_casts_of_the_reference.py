"""A reference that rounds to 16 bits on its way: a candidate may round there too, or not; it is no wider than that."""

from functools import partial

import pytest
from _deep import few

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.harness.reference.torch import dtype_leaks  # noqa: E402

judged = partial(opproof.check, seconds=6, raises=False, only="as given")


def attention(q, k, v):
    scores = (q @ k.mT).float() * q.shape[-1] ** -0.5
    return torch.softmax(scores, -1).to(q.dtype) @ v


def plain(q, k, v):
    return torch.softmax(q @ k.mT * q.shape[-1] ** -0.5, -1) @ v


def inputs(seed, dtype):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(2, 40, 16, generator=generator).to(dtype) for _ in range(3)]


class Rounding(torch.autograd.Function):
    """Shares, and the gradients of scores, in the dtype of q for the products."""

    @staticmethod
    def forward(ctx, q, k, v, factor):
        shares = torch.softmax(q.float() @ k.float().mT * q.shape[-1] ** -0.5, -1)
        ctx.save_for_backward(q, k, v, shares)
        return (shares.to(q.dtype).float() @ v.float() * factor).to(q.dtype)

    @staticmethod
    def backward(ctx, g):
        q, k, v, shares = ctx.saved_tensors
        ds = g.float() @ v.float().mT
        ds = (shares * (ds - (shares * ds).sum(-1, keepdim=True))).to(q.dtype).float() * q.shape[-1] ** -0.5
        dv = shares.to(q.dtype).float().mT @ g.float()
        return *(d.to(q.dtype) for d in (ds @ k.float(), ds.mT @ q.float(), dv)), None


def with_factor(factor):
    return lambda q, k, v: Rounding.apply(q, k, v, factor)


@pytest.mark.parametrize(("dtype", "factor"), few([("bf16", 1.01), ("f16", 1.003)]))
def test_who_rounds_as_the_reference_does_is_right(dtype, factor):
    options = {"inputs": inputs, "dtype": dtype}
    assert judged(with_factor(1.0), like=attention, **options).ok
    assert judged(with_factor(1.0), like=plain, **options).failures, "which has no cast of its own"
    assert {"WRONG_VALUE"} <= set(judged(with_factor(factor), like=attention, **options).failures)
    assert judged(lambda q, k, v: plain(q.float(), k.float(), v.float()).to(q.dtype), like=attention, **options).ok


def test_casts_are_counted_in_order():
    x = torch.randn(3).to(torch.bfloat16)
    found = {}
    with dtype_leaks.with_recorded_casts(frozenset(), found):
        y = x.float()
        y = y.to(torch.float64).to(torch.float32)
        y = y.bfloat16()
        y.type_as(x)
    assert found == {1: "bf16", 4: "bf16"}


def test_what_is_given_is_widened_as_it_is():
    x = torch.randn(3).to(torch.bfloat16)
    found = {}
    with dtype_leaks.with_recorded_casts({x.untyped_storage().data_ptr()}, found):
        x[1:].float()
        (x + 1).float().bfloat16()
    assert found == {2: "bf16", 3: "bf16"}


def test_what_the_judge_casts_is_not_counted():
    found = {}
    with dtype_leaks.with_recorded_casts(frozenset(), found):
        opproof.assert_close(torch.ones(3), like=torch.neg, inputs=[-torch.ones(3)])
    assert found == {}
