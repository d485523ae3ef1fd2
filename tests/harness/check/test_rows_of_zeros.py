"""Rows of zeros that no given input has: where the reference's epsilon decides, other numbers are no failure."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402

F = torch.nn.functional
ONLY = "slices of zeros"


def unit(x):
    return F.normalize(x, dim=-1, eps=1e-6)


class WithEpsInside(torch.autograd.Function):
    """Another epsilon, and a backward as kernels have it: at a row of zeros 1e5 times what comes, and not 1e6 times."""

    @staticmethod
    def forward(ctx, x):
        rate = torch.rsqrt(x.square().sum(-1, keepdim=True) + 1e-10)
        ctx.save_for_backward(x * rate, rate)
        return x * rate

    @staticmethod
    def backward(ctx, g):
        y, rate = ctx.saved_tensors
        return rate * (g - y * (g * y).sum(-1, keepdim=True))


def with_eps_inside(x):
    return WithEpsInside.apply(x)


def without_eps(x):
    return x / x.square().sum(-1, keepdim=True).sqrt()


def normal(seed, dtype):
    return [torch.randn(6, 12, generator=torch.Generator().manual_seed(seed)).to(dtype)]


def padded(seed, dtype):
    (x,) = normal(seed, dtype)
    return [x * (torch.arange(6) != 4)[:, None]]


def judged(candidate, like=unit, inputs=normal, **options):
    return opproof.check(candidate, like=like, inputs=inputs, dtype="f32", raises=False, seconds=1e9, **options)


def test_what_an_epsilon_decides_is_not_judged():
    found = judged(with_eps_inside, only=ONLY)
    assert not found.failures
    assert f"{ONLY}: x has a row of zeros there, which no given input has" in str(found)
    assert judged(with_eps_inside, only=ONLY, beyond=True).failures.keys() == {"WRONG_GRADIENT"}


def test_a_row_of_zeros_that_is_given_is_judged():
    assert judged(with_eps_inside, inputs=padded, only="as given").failures.keys() == {"WRONG_GRADIENT"}


def test_no_number_is_a_failure_there():
    assert "WRONG_VALUE" in judged(without_eps, only=ONLY).failures


@pytest.mark.parametrize(
    "wrong",
    [
        lambda x: with_eps_inside(x) * 1.001,  # in all other rows too
        lambda x: with_eps_inside(x) + (x[:, :1] == 0) * x.roll(1, 0) * 0.01,  # beside them
    ],
)
def test_what_is_wrong_in_other_rows_fails(wrong):
    assert judged(wrong, only=ONLY).failures


def test_without_an_epsilon_in_the_reference_nothing_is_left_to_it():
    def scaled(x):
        return x * x.abs().amax(-1, keepdim=True)

    def one_more(x):
        return scaled(x) + (x.abs().amax(-1, keepdim=True) == 0)

    assert "WRONG_VALUE" in judged(one_more, like=scaled, only=ONLY).failures
