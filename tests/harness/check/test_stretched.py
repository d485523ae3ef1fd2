"""Sizes at which a reference means something else are left out by name; all others are tried."""

from __future__ import annotations

import pytest
from _deep import few

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.harness.check.judge.declines import BroadcastStep, find_stretched  # noqa: E402
from opproof.harness.reference.torch.linear_algebra import by_letter, by_pair  # noqa: E402

SHAPES = [(2, 12, 8), (2, 2, 8), (2, 3, 8)]


def cached(cache, key, query):
    cache = cache.clone()
    cache[:, 5:7] = key
    return torch.softmax(query @ cache[:, :7].mT, -1) @ cache[:, :7]


def joined(cache, key, query):
    cache = torch.cat([cache[:, :5], key], 1)
    return torch.softmax(query @ cache.mT, -1) @ cache


def test_a_slice_that_takes_one_row_for_two_is_no_evidence():
    report = opproof.check(joined, like=cached, inputs=SHAPES, dtype="f32", raises=False)
    assert report.ok, report
    why = "2 as 1: the reference: aten::expand stretches an axis of size 1, which it does not as given"
    assert why in report.not_judged
    assert "3 as 1" in report.tried


def test_a_fault_at_one_row_is_still_found():
    def wrong(x, w):
        return x * w + 1e-3 if x.shape[0] == 1 else x * w

    report = opproof.check(wrong, like=torch.mul, inputs=[(6, 5), (5,)], dtype="f32", raises=False)
    failed = [r for rs in report.failures.values() for r in rs]
    assert {(report.variants[r.case], str(r.verdict)) for r in failed} == {("6 as 1", "WRONG_VALUE")}


@pytest.mark.parametrize(
    ("given", "other", "name"),
    [
        (((4, 3), (4, 3)), ((1, 3), (1, 3)), ""),
        (((4, 3), (3,)), ((1, 3), (3,)), ""),
        (((4, 3), (4, 3)), ((4, 3), (1, 3)), "aten::mul"),
        (((4, 3), (4, 1)), ((1, 3), (1, 1)), ""),
        (((4, 3), (4, 1)), ((4, 3), (1, 1)), "aten::mul"),
    ],
)
def test_what_counts_is_the_axis(given, other, name):
    assert find_stretched([BroadcastStep("aten::mul", given)], [BroadcastStep("aten::mul", other)]) == name


def test_other_operations_are_not_compared():
    assert find_stretched([BroadcastStep("aten::mul", ((4,), (4,)))], [BroadcastStep("aten::add", ((4,), (1,)))]) == ""
    assert find_stretched([], [BroadcastStep("aten::expand", ((8,), (1, 2, 8)))]) == "aten::expand"
    assert find_stretched([], [BroadcastStep("aten::expand", ((2, 8), (2, 8)))]) == ""


TABLE = torch.linspace(-1, 2, 40).reshape(8, 5)


@pytest.mark.parametrize(
    "contract", few([lambda x, t: torch.einsum("bi,ij->bj", x, t), lambda x, t: torch.tensordot(x, t, 1)])
)
def test_a_contraction_that_takes_one_column_for_all_is_no_evidence(contract):
    def reference(x):
        return contract(x, TABLE.to(x))

    def summed(x, off=0.0):
        return sum(x[:, i, None] * TABLE[i].to(x) for i in range(x.shape[1])) + off * (len(x) == 1)

    report = opproof.check(summed, like=reference, inputs=[(6, 8)], dtype="f32", raises=False)
    assert report.ok, report
    assert any("8 as 1: the reference: " in why and "stretches an axis" in why for why in report.not_judged)
    wrong = opproof.check(lambda x: summed(x, 1e-3), like=reference, inputs=[(6, 8)], dtype="f32", raises=False)
    assert set(wrong.failures) == {"WRONG_VALUE"}, wrong
    assert {wrong.variants[r.case] for rs in wrong.failures.values() for r in rs} == {"6 as 1"}


def test_sizes_by_letter():
    x, w = torch.ones(2, 3, 1), torch.ones(4, 5)
    assert by_letter("...ij,jk->...ik", x, w) == [[3], [1, 4], [5]]
    assert by_letter("bij, jk", x, w) == [[2], [3], [1, 4], [5]]
    assert by_letter(x, [..., 0], w, [0, 1], [1]) == [[1, 4], [5]]
    assert by_pair(x, w, 1) == [[1, 4]]
    assert by_pair(x, w, ([0], [-1])) == [[2, 5]]


def _of_several_shapes(seed, dtype):
    """A bias of all of a batch in every fourth draw, the fourth itself among them."""
    generator = torch.Generator().manual_seed(seed)
    x, w = torch.randn(2, 3, 4, 6, generator=generator).to(dtype)
    return [x, w[:1] if seed % 4 == 3 else w]


class LastOfTheBatch(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return torch.tanh(x * w)

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        d = g * (1 - torch.tanh(x * w) ** 2)
        dw = d * x
        return d * w, dw if len(w) > 1 else dw[-1:]


def test_what_a_factory_itself_draws_stretches_nothing():
    report = opproof.check(
        LastOfTheBatch.apply,
        like=lambda x, w: torch.tanh(x * w),
        inputs=_of_several_shapes,
        dtype="f32",
        raises=False,
        seconds=10,
    )
    assert any("w=1x4x6" in r.case for rs in report.failures.values() for r in rs)
