"""Masks, choices and order that the declared stores in 16 bits turn are as right as those of the truth.

Right kernels store what passes between their steps, and decide by what they have stored. Beneath it each has wrong
twins, which fail.
"""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402


def stored(x):
    return x.bfloat16().float()


def judged(candidate, like, inputs, *, only="as given", **options):
    return opproof.check(
        candidate, like=like, inputs=inputs, dtype="bf16", compute="storage", only=only, raises=False, seconds=1e9,
        **options,
    )  # fmt: skip


def verdicts(report):
    return {(str(r.mode), str(r.verdict)) for r in report.results}


RIGHT = {("forward", "PASS"), ("gradient", "PASS")}


def in_float32(f):
    """A kernel that computes in float32 between its stores."""
    return lambda *tensors: f(*(t.float() for t in tensors)).bfloat16()


def draws(*shapes):
    def make(seed, dtype):
        rng = torch.Generator().manual_seed(seed)
        return [torch.randn(shape, generator=rng).to(dtype) for shape in shapes]

    return make


def layer(x, w, b):
    return torch.relu(x @ w + b)


def layer_by_stores(x, w, b):
    return torch.relu(stored(stored(x @ w) + b))


def cancelling(seed, dtype):
    """Biases that take most of the products off again: what is left is 0 in 16 bits, and 5e-4 in truth."""
    x, w = draws((16, 32), (32, 24))(seed, dtype)
    return [x, w, -(x.float() @ w.float())[seed % 16].to(dtype)]


def test_a_mask_of_sums_that_are_0_as_stored():
    assert verdicts(judged(in_float32(layer_by_stores), layer, cancelling)) == RIGHT


class Masked(torch.autograd.Function):
    """relu with a backward of its own, `wrong` or right."""

    @staticmethod
    def forward(ctx, x, wrong):
        ctx.save_for_backward(x)
        ctx.wrong = wrong
        return torch.relu(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return ctx.wrong(g, x), None


@pytest.mark.parametrize(
    "wrong",
    [
        lambda g, x: torch.where(x > 0.5, g, 0.0),  # another threshold
        lambda g, x: torch.where(x > 0, g, 0.0) * 1.02,
        lambda g, x: torch.where(x > 0, g, 0.01 * g),  # a leaky one
        lambda g, _: g,  # no mask
    ],
)
def test_a_wrong_mask_beneath_them_fails(wrong):
    def kernel(x, w, b):
        return Masked.apply(stored(stored(x @ w) + b), wrong)

    found = judged(in_float32(kernel), layer, cancelling)
    assert found.failures.keys() == {"WRONG_GRADIENT"}


def route(x):
    weights, at = torch.softmax(x, -1).topk(2, -1)
    return torch.zeros_like(x).scatter(-1, at, weights / weights.sum(-1, keepdim=True))


def near_equal(seed, dtype):
    (x,) = draws((12, 8))(seed, dtype)
    return [(x / 128).to(dtype)]


def route_by_stores(x, count=2, factor=1.0):
    weights, at = stored(torch.softmax(x, -1)).topk(count, -1)
    return torch.zeros_like(x).scatter(-1, at, factor * weights / weights.sum(-1, keepdim=True))


def test_equal_shares_are_chosen_from_as_they_are_stored():
    assert verdicts(judged(in_float32(route_by_stores), route, draws((12, 8)))) == RIGHT
    found = judged(in_float32(route_by_stores), route, near_equal)
    assert not found.failures


@pytest.mark.parametrize("wrong", [{"count": 3}, {"factor": 1.02}])
def test_a_wrong_router_fails_beneath_them(wrong):
    found = judged(in_float32(lambda x: route_by_stores(x, **wrong)), route, draws((12, 8)))
    assert "WRONG_VALUE" in found.failures


def pruned(x):
    p = torch.softmax(x, -1)
    return torch.where(p >= 1 / x.shape[-1], p, 0.0)


def pruned_by_stores(x, least=1.0):
    p = stored(torch.softmax(x, -1))
    return torch.where(p >= least / x.shape[-1], p, 0.0)


def test_a_threshold_of_shares():
    assert verdicts(judged(in_float32(pruned_by_stores), pruned, draws((12, 24)))) == RIGHT
    found = judged(in_float32(lambda x: pruned_by_stores(x, 2.0)), pruned, draws((12, 24)))
    assert found.failures.keys() == {"WRONG_VALUE", "WRONG_GRADIENT"}


def largest(x, w):
    return torch.amax(x @ w, -1)


def largest_by_stores(x, w, factor=1.0):
    y = stored(x @ w)
    return factor * y.gather(-1, y.argmax(-1, keepdim=True))[..., 0]


@pytest.mark.parametrize("only", ["as given", "negative values", "ties"])
def test_the_largest_of_stored_products(only):
    """Of numbers about 160,000 many are equal in 16 bits."""
    inputs = draws((8, 16), (16, 12))
    assert not judged(in_float32(largest_by_stores), largest, inputs, only=only).failures


def test_the_largest_of_wrong_products_fails():
    found = judged(in_float32(lambda x, w: largest_by_stores(x, w, 1.02)), largest, draws((24, 16), (16, 12)))
    assert found.failures.keys() & {"WRONG_VALUE", "WRONG_GRADIENT"}


def test_kinks_that_pass_by_their_bound_say_nothing_of_the_whole():
    """clamp has a gradient of 1 at both its ends, and minimum and relu of 1/2 and 0: many sums there are 0 and 6."""

    def reference(x, w):
        return torch.minimum(torch.relu(x @ w), torch.tensor(6.0)) / 6

    def kernel(x, w, factor=1.0):
        return stored(x @ w).clamp(0, 6) * (factor / 6)

    inputs = draws((8, 16), (16, 12))
    assert verdicts(judged(in_float32(kernel), reference, inputs, only="ties")) == RIGHT
    found = judged(in_float32(lambda x, w: kernel(x, w, 1.02)), reference, inputs, only="ties")
    assert "WRONG_VALUE" in found.failures


def untrained(seed, dtype):
    """Weights of zeros: all products are equal, and every row may choose any of them."""
    x, w = draws((8, 16), (16, 12))(seed, dtype)
    return [x, w * 0]


class ChoosesFirst(torch.autograd.Function):
    """The largest product, the first of equals, its gradient times `factor`."""

    @staticmethod
    def forward(ctx, x, w, factor):
        y = x @ w
        at = y.argmax(-1, keepdim=True)
        ctx.save_for_backward(x, w, at)
        ctx.factor = factor
        return y.gather(-1, at)[..., 0]

    @staticmethod
    def backward(ctx, g):
        x, w, at = ctx.saved_tensors
        d = ctx.factor * torch.zeros(len(x), w.shape[1]).scatter(-1, at, g[:, None])
        return d @ w.mT, x.mT @ d, None


@pytest.mark.parametrize(("factor", "verdict"), [(1.0, "PASS"), (1.5, "WRONG_GRADIENT"), (-1.0, "WRONG_GRADIENT")])
def test_sums_over_ties_that_all_choose_the_same(factor, verdict):
    """Points beside it at random have each row choose for itself: no one of them is as far out."""
    report = opproof.check(
        lambda x, w: ChoosesFirst.apply(x, w, factor), like=largest, inputs=untrained, dtype="f32", only="as given",
        raises=False, seconds=1e9,
    )  # fmt: skip
    assert [str(r.verdict) for r in report.results if r.mode == "gradient"] == [verdict]


def test_a_direction_at_zero_is_none_of_many_kinks():
    """The norm has a kink at zero whose sides are all numbers up to 1, and none beyond twice as much."""

    def steep(x):
        return x.norm(dim=-1)

    class Steeper(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return steep(x)

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            length = steep(x)[:, None]
            return g[:, None] * torch.where(length == 0, 4.0, x / length.clamp_min(1e-30))

    def one_row_of_zeros(seed, dtype):
        (x,) = draws((6, 9))(seed, dtype)
        return [x * (torch.arange(6) > 0)[:, None]]

    report = opproof.check(
        Steeper.apply, like=steep, inputs=one_row_of_zeros, dtype="f32", only="as given", raises=False, seconds=1e9
    )
    assert report.failures.keys() == {"WRONG_GRADIENT"}
