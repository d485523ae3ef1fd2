"""At exact ties any derivative between both sides passes, for references in PyTorch; beside them none but the right."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402


class Chosen(torch.autograd.Function):
    """A function with a gradient of one's own choice."""

    @staticmethod
    def forward(ctx, f, slope, x):
        ctx.slope = slope
        ctx.save_for_backward(x)
        return f(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return None, None, ctx.slope(g, x)


def values(seed):
    x = torch.randn(6, 8)
    x[::2, ::3] = 0.0
    return [x]


def equals(seed):
    return [torch.randn(5, 8).mul(2).round()]


def verdict(f, slope, inputs=values):
    report = opproof.check(
        lambda x: Chosen.apply(f, slope, x), like=f, inputs=inputs, neighbours=False, raises=False, seconds=5
    )
    forward, gradient = report.results
    assert forward.verdict == "PASS", report
    return str(gradient.verdict)


def step(at):
    return lambda g, x: g * torch.where(x > 0, 1.0, torch.where(x < 0, 0.0, at))


FORMS = {
    "relu": torch.relu,
    "clamp": lambda x: x.clamp(min=0.0),
    "where": lambda x: torch.where(x > 0, x, 0.0),
    "maximum": lambda x: torch.maximum(x, torch.zeros(())),
    "half": lambda x: (x + x.abs()) / 2,
}


@pytest.mark.parametrize("form", FORMS)
def test_a_rectifier_at_zero(form):
    f = FORMS[form]
    assert [verdict(f, step(at)) for at in (0.0, 0.5, 1.0)] == ["PASS"] * 3
    assert [verdict(f, step(at)) for at in (-0.1, 1.1)] == ["WRONG_GRADIENT"] * 2
    assert verdict(f, lambda g, x: g * (x > 0.5)) == "WRONG_GRADIENT"


def test_the_size_at_zero():
    def sign(at):
        return lambda g, x: g * torch.where(x == 0, at, x.sign())

    assert [verdict(torch.abs, sign(at)) for at in (0.0, 1.0, -1.0, 0.5)] == ["PASS"] * 4
    assert verdict(torch.abs, sign(1.5)) == "WRONG_GRADIENT"


def largest(share):
    def slope(g, x):
        ties = (x == x.amax(-1, keepdim=True)).to(x.dtype)
        return g.unsqueeze(-1) * share(ties)

    return slope


EVEN = largest(lambda t: t / t.sum(-1, keepdim=True))
FIRST = largest(lambda t: t * (t.cumsum(-1) == 1))
LAST = largest(lambda t: t * (t.flip(-1).cumsum(-1).flip(-1) == 1))
ALL = largest(lambda t: t)
NONE = largest(lambda t: t * 0.0)


PICKS = {
    "amax": lambda x: x.amax(-1),
    "max": lambda x: x.max(-1).values,
    "sort": lambda x: x.sort(-1).values[..., -1],
    "topk": lambda x: x.topk(1).values[..., 0],
}


@pytest.mark.parametrize("pick", PICKS)
def test_a_maximum_of_equals(pick):
    f = PICKS[pick]
    assert [verdict(f, s, equals) for s in (EVEN, FIRST, LAST)] == ["PASS"] * 3
    assert [verdict(f, s, equals) for s in (ALL, NONE)] == ["WRONG_GRADIENT"] * 2


def test_equal_elements_in_any_order():
    """Of five that are equal, each may have the rank of any: too few orders at random would not show them all."""

    def order(seed):
        def slope(g, x):
            by = x.flatten() * 1000 + torch.from_numpy(np.random.default_rng(seed).random(x.numel()))
            made = torch.zeros(x.numel(), dtype=g.dtype)
            return made.index_put((by.argsort(descending=True),), g.flatten()).reshape(x.shape)

        return slope

    def f(x):
        return x.flatten().sort(descending=True).values

    many = torch.tensor([[2.0, 1, 2, 2, 2, 1, 1], [2, 1, 1, 0, 0, 0, 0]])
    assert {verdict(f, order(seed), lambda: [many]) for seed in range(20)} == {"PASS"}
    assert verdict(f, lambda g, x: order(1)(g, x) * 1.01, lambda: [many]) == "WRONG_GRADIENT"


def median(x):
    return x.median(-1).values


def to_one_place(at):
    """The slope of a median, all of it in one place of each row."""

    def slope(g, x):
        d = torch.zeros_like(x)
        d[..., at] = g
        return d

    return slope


@pytest.mark.parametrize(("at", "expected"), [(0, "PASS"), (10, "PASS"), (20, "PASS"), (11, "WRONG_GRADIENT")])
def test_any_of_many_equals_may_be_the_median(at, expected):
    """Points beside them are drawn until each was it once; an element that is none of them never is."""

    def eleven_equals(seed):
        x = torch.randn(5, 21, generator=torch.Generator().manual_seed(seed))
        x[:, ::2] = torch.linspace(-1, 1, 5)[:, None]
        return [x]

    assert verdict(median, to_one_place(at), eleven_equals) == expected


#: Without a gain nothing is rounded; the other pairs are in `deep`.
_ROUNDED = (("f32", 1.0), ("f32", 0.3), ("f16", 2**0.5), ("bf16", 0.3))


@pytest.mark.parametrize(
    ("dtype", "gain"),
    [
        pytest.param(dtype, gain, marks=() if (dtype, gain) in _ROUNDED else pytest.mark.deep)
        for dtype in ("f32", "f16", "bf16")
        for gain in (1.0, 2**0.5, 0.3)
    ],
)
def test_the_other_side_is_rounded_too(dtype, gain):
    """A multiple of the cotangent beside 0, and the larger slope beside the smaller one."""

    def drawn(seed, dtype):
        x = torch.randn(40, 8, generator=torch.Generator().manual_seed(seed))
        x[::2, ::3] = 0.0
        return [x.to(dtype)]

    def judged(leak, off):
        def like(x):
            return torch.nn.functional.leaky_relu(x.float() * gain, leak).to(x.dtype)

        def slope(g, x):
            side = torch.where(x == 0, 1.0 + off, 1.0)
            return (g.float() * torch.where(x >= 0, side, leak) * gain).to(x.dtype)

        report = opproof.check(
            lambda x: Chosen.apply(like, slope, x), like=like, inputs=drawn, dtype=dtype, neighbours=False, raises=False
        )
        return str(report.results[1].verdict)

    for leak in (0.0, 0.2):
        assert judged(leak, 0.0) == "PASS"
        assert judged(leak, {"f32": 1e-3, "f16": 0.005, "bf16": 0.04}[dtype]) == "WRONG_GRADIENT"
