"""State, random numbers, complex numbers, layouts: what a reference has beside floats is judged too."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402

import opproof  # noqa: E402
from opproof.core.errors import UsageError  # noqa: E402
from opproof.harness.check.call.other_calls import ReusedBuffers  # noqa: E402

F = torch.nn.functional


def judged(candidate, like, inputs, **wishes):
    return opproof.check(candidate, like=like, inputs=inputs, raises=False, **{"neighbours": False, **wishes})


def verdicts(report):
    return [str(r.verdict) for r in report.results]


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(5)

    def forward(self, x):
        return self.norm(x)


class Forgetful(Norm):
    def forward(self, x):
        n = self.norm
        return (x - x.mean(0)) / torch.sqrt(x.var(0, unbiased=False) + n.eps) * n.weight + n.bias


class Average(nn.Module):
    def __init__(self, rate=0.1):
        super().__init__()
        self.rate = rate
        self.register_buffer("seen", torch.ones(5))

    def forward(self, x):
        self.seen = (1 - self.rate) * self.seen + self.rate * x.detach().mean(0)
        return x - self.seen


def test_what_a_module_writes_to_its_buffers():
    assert judged(Norm(), Norm(), [(7, 5)]).ok
    assert verdicts(judged(Forgetful(), Norm(), [(7, 5)])) == ["WRONG_VALUE", "PASS"]
    assert judged(Average(), Average(), [(7, 5)]).ok
    assert "WRONG_VALUE" in verdicts(judged(Average(0.2), Average(), [(7, 5)]))


def noisy(x):
    return x + torch.randn_like(x) * torch.rand(x.shape)


def test_random_numbers_are_those_of_the_dtype():
    assert judged(noisy, noisy, [(6, 5)]).ok
    assert not judged(lambda x: x + torch.randn_like(x), noisy, [(6, 5)]).ok
    laid = judged(noisy, noisy, [(6, 5)], only="transposed", neighbours=True)
    assert "random numbers in another layout" in laid.not_judged[0]


def test_complex_numbers():
    z = torch.randn(4, 5, dtype=torch.complex64)
    assert judged(lambda z: torch.complex(z.real * z.abs(), z.imag * z.abs()), lambda z: z * z.abs(), [z]).ok
    every = judged(lambda z, x: z * x, lambda z, x: x * z, [z, torch.randn(4, 5)], neighbours=True, seconds=1e9)
    assert every.ok, every
    assert "broadcast" in every.tried
    assert judged(torch.fft.rfft, torch.fft.rfft, [(4, 16)]).ok
    assert not judged(lambda x: torch.fft.rfft(x).conj().resolve_conj(), torch.fft.rfft, [(4, 16)]).ok


def test_tensors_in_columns():
    report = judged(torch.matmul, torch.matmul, [torch.randn(6, 4).T, torch.randn(6, 3)])
    assert report.ok, report


def turns(x):
    return torch.sin(x * 1000.0)


@pytest.mark.parametrize("factor", [1.0, 1.5])
def test_what_is_too_sensitive_is_inconclusive(factor):
    report = judged(lambda x: turns(x) * factor, turns, [(8, 33)], dtype="bf16", compute="storage")
    assert verdicts(report) == ["INCONCLUSIVE"] * 2
    assert not report.ok


def test_inputs_of_one_sign_are_tried_with_both():
    given = {"inputs": lambda: [torch.rand(6, 5)], "only": "values of both signs"}
    report = judged(lambda x: x * 1, torch.relu, **given, beyond=True)
    assert verdicts(report) == ["WRONG_VALUE", "WRONG_GRADIENT"]
    (told,) = judged(lambda x: x * 1, torch.relu, **given).beyond
    assert "is not positive there, as it is in all inputs given: WRONG_VALUE" in told


def test_one_variant_again():
    report = judged(lambda x: x.exp() * 1.01, torch.exp, [(6, 5)], only="sliced")
    assert report.tried == ("sliced",)
    assert "only='sliced'" in report.to_json()
    assert "only='sliced'" in repr(report)
    with pytest.raises(UsageError, match="is no variant of these inputs: expected one of as given"):
        judged(torch.exp, torch.exp, [(6, 5)], only="upside down")


def test_layouts_that_the_reference_does_not_take_are_not_judged():
    turns = torch.polar(torch.ones(6, 4), torch.linspace(0, 3, 24).reshape(6, 4))

    def turned(x):
        pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
        return torch.view_as_real(pairs * turns.to(pairs.dtype)).flatten(-2)

    report = judged(turned, turned, [(3, 6, 8)], neighbours=True)
    assert report.ok, report
    assert any(why.startswith("transposed: the reference: ") for why in report.not_judged)
    wrong = judged(
        lambda x: turned(x.contiguous()) * (1 + 1e-5 * (x.stride(-1) != 1)), turned, [(3, 6, 8)], only="transposed"
    )
    assert set(wrong.failures) == {"WRONG_VALUE", "WRONG_GRADIENT"}, wrong


def windows(x):
    return x.as_strided((3, 3), (4, 1)) * 2


def test_a_reference_that_depends_on_strides_is_not_judged_in_other_layouts():
    report = judged(windows, windows, [(5, 4)], neighbours=True)
    assert report.ok, report
    why = "the reference: it gives other results where its inputs lie so: it depends on their strides"
    assert f"transposed: {why}" in report.not_judged

    def careless(x):
        return x.as_strided(x.shape, (x.shape[1], 1)) * 2

    wrong = judged(careless, lambda x: x * 2, [(5, 4)], only="transposed")
    assert set(wrong.failures) == {"WRONG_VALUE", "WRONG_GRADIENT"}, wrong


def test_a_view_of_a_stretched_input_is_stretched():
    assert judged(lambda x: x.mT, lambda x: x.mT, [(5, 4)], only="broadcast").ok
    wrong = judged(lambda x: (x[:1] * 2).expand_as(x), lambda x: x * 2, [(5, 4)], only="broadcast")
    assert set(wrong.failures) == {"WRONG_SHAPE"}, wrong


def test_memory_at_another_offset_is_memory_of_its_own():
    kept = ReusedBuffers()
    room = torch.zeros(8)
    at = [kept.refill_tensor(0, room[i:][:4]).data_ptr() % 64 for i in (0, 3, 0)]
    assert at[0] == at[2] != at[1]


def test_a_tensor_that_is_updated_is_called_by_its_name():
    def step(p, v):
        v.mul_(0.9).add_(p)
        return p * 2

    lazy = judged(lambda p, v: p * 2, step, [(6, 5), (6, 5)])
    assert lazy.results[0].worst.tensor == "v after the call"
    assert lazy.results[0].diagnosis == "v is left as it was"
    assert verdicts(judged(step, step, [(6, 5), (6, 5)])) == ["PASS"]


def norm(x, w, mean, var):
    return F.batch_norm(x, mean, var, w, training=True)


def own_norm(x, w, mean, var, held=False):
    m, v = x.mean(0), x.var(0, unbiased=False)
    with torch.no_grad():
        mean.mul_(0.9).add_(0.1 * m)
        var.mul_(0.9).add_(0.1 * v * len(x) / (len(x) - 1))
    rate = (v + 1e-5).rsqrt()
    return (x - m) * (rate.detach() if held else rate) * w


def test_gradients_are_judged_beside_statistics_that_are_updated():
    def statistics(seed):
        torch.manual_seed(seed)
        return [torch.randn(7, 5), torch.randn(5), torch.randn(5), torch.rand(5) + 0.5]

    right = judged(own_norm, norm, statistics)
    assert right.ok, right
    assert verdicts(right) == ["PASS", "PASS"]
    assert verdicts(judged(lambda *t: own_norm(*t, held=True), norm, statistics)) == ["PASS", "WRONG_GRADIENT"]


def test_none_are_asked_for_through_what_is_updated_by_them():
    def step(p, g):
        p.sub_(0.1 * g)
        return p * 2

    def kernel(p, g):
        with torch.no_grad():
            p.copy_(p - 0.1 * g)
            return p * 2

    report = judged(kernel, step, [(5, 4), (5, 4)])
    assert report.ok, report
    assert "gradients: none are asked for, p is updated by what has them" in report.not_judged
