"""Numbers and flags that a factory draws beside its tensors: each of them is tried, not the first seed's alone."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402


def scores(q, k, softcap, window):
    s = q @ k.mT
    s = softcap * torch.tanh(s / softcap) if softcap else s
    i = torch.arange(s.shape[-1])
    return s.masked_fill(i[:, None] - i > window, 0.0)


def uncapped(q, k, softcap, window):
    return scores(q, k, 0.0, window)


def of_one_window(q, k, softcap, window):
    return scores(q, k, softcap, 3)


def inputs(seed, dtype):
    generator = torch.Generator().manual_seed(seed)
    q, k = (torch.randn(2, 10, 6, generator=generator).to(dtype) for _ in range(2))
    return [q, k, (0.0, 5.0)[seed % 2], 3 + seed % 3]


def told(candidate, factory=inputs, like=scores, **options):
    report = opproof.check(candidate, like=like, inputs=factory, dtype="f32", raises=False, seconds=1e9, **options)
    return {report.variants[r.case] for rs in report.failures.values() for r in rs}, report


@pytest.mark.parametrize("isolate", [False, True])
def test_what_is_wrong_for_other_arguments_alone_is_found(isolate):
    wrong, report = told(uncapped, isolate=isolate)
    assert wrong == {"arguments of seed 1", "arguments of seed 3"}
    assert "arguments of seed 1" in str(report)
    assert told(of_one_window, isolate=isolate)[0] == {"arguments of seed 1", "arguments of seed 2"}


def test_right_ones_pass_and_say_what_was_tried():
    wrong, report = told(scores)
    assert report.ok
    assert not wrong
    each = [f"arguments of seed {n}" for n in (1, 2, 3)]
    tried = [v for v in report.tried if v.startswith("arguments")]
    far = [f"{one}, {values}" for one in each for values in ("wide values", "large values")]
    assert tried == [*each, *(f"{one}, 10 as 11 and 6 as 7" for one in each), *far]


def test_one_of_them_is_tried_alone():
    wrong, report = told(uncapped, only="arguments of seed 1")
    assert wrong == {"arguments of seed 1"}
    assert list(report.tried) == ["arguments of seed 1"]


def test_the_same_arguments_are_tried_once():
    report = told(scores, lambda seed, dtype: [*inputs(seed, dtype)[:2], 5.0, 3])[1]
    assert not [v for v in report.tried if v.startswith("arguments")]


def test_numbers_that_are_never_others_are_tried_a_quarter_less():
    """A softcap of 5 and a window of 6 in every draw; of a flag, which no variant changes, the report says so."""

    def same(seed, dtype):
        return [*inputs(seed, dtype)[:2], 5.0, 6]

    def of_five(q, k, softcap, window):
        return scores(q, k, 5.0, window)

    def of_six(q, k, softcap, window):
        return scores(q, k, softcap, 6)

    wrong, right = told(scores, same, gradients=False)
    assert not wrong
    assert {"softcap as 3.75", "window as 4"} <= set(right.tried)
    assert told(of_five, same)[0] == {"softcap as 3.75"}
    assert told(of_six, same)[0] == {"window as 4"}


def test_what_keeps_from_zero_is_tried_a_thousand_times_larger():
    def normed(x, eps):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps)

    def same(seed):
        return [torch.randn(6, 40, generator=torch.Generator().manual_seed(seed)), 1e-5]

    assert told(lambda x, eps: normed(x, 1e-5), same, like=normed)[0] == {"eps as 0.01"}
    wrong, right = told(normed, same, like=normed)
    assert not wrong
    assert "eps as 0.01" in right.tried


def test_flags_that_are_never_others_are_named():
    def turned(x, flag):
        return -x if flag else x

    report = opproof.check(turned, like=turned, inputs=lambda seed: [torch.randn(4, 6), True], seconds=1)
    texts = [text for text in report.not_judged if "every seed" in text]
    assert texts == ["other values of flag (True): inputs() gives the same for every seed"]


def scaled(x, scale, by=(1, 1)):
    return (x.float() * scale * by[0] / by[1]).to(x.dtype)


@pytest.mark.parametrize("scale", [torch.float32, torch.bfloat16])
def test_what_a_function_makes_is_as_it_made_it(scale):
    """A tuple of integers is an argument, and a scale in float32 beside bf16 stays one: the first call tells."""
    seen = []

    def kernel(x, scale, by):
        seen.append((x.dtype, scale.dtype, by))
        return scaled(x, scale, by)

    def factory(seed, dtype):
        generator = torch.Generator().manual_seed(seed)
        x, factors = torch.randn(4, 6, generator=generator), torch.rand(6, generator=generator) + 0.5
        return {"x": x.to(dtype), "scale": factors.to(scale), "by": [(4, 3), (2, 5)][seed % 2]}

    report = opproof.check(kernel, like=scaled, inputs=factory, dtype="bf16", raises=False, seconds=0.1)
    assert report.ok, report
    assert seen[0] == (torch.bfloat16, scale, (4, 3)) or seen[0] == (torch.bfloat16, scale, (2, 5))


def test_what_a_list_gives_is_rounded_and_drawn():
    tensors = [torch.linspace(-1, 1, 12).reshape(3, 4), (4,)]
    report = opproof.check(torch.add, like=torch.add, inputs=tensors, dtype="bf16", only="as given")
    assert {r.dtype for r in report.results} == {"bf16"}
    assert "w=4," in report.results[0].case or "x1=4," in report.results[0].case


def test_large_values_are_tried_with_every_set_of_arguments():
    """Past 20 softplus is its argument; of 20 it is said times beta."""

    def softplus(x, beta):
        return torch.nn.functional.softplus(x, beta)

    def ported(x, beta):
        return torch.where(x > 20, x, softplus(x, beta))

    def inputs(seed):
        return [2 * torch.randn(12, 40, generator=torch.Generator().manual_seed(seed)), [1.0, 0.25][seed % 2]]

    assert told(softplus, inputs, softplus)[1].ok
    assert told(ported, inputs, softplus)[0] == {"arguments of seed 1, wide values"}
