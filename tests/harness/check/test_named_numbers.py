"""A wrong answer that is right for another number or flag of the reference: which, and what it is."""

from functools import partial

import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402

judged = partial(opproof.check, seconds=5, raises=False, gradients=False, only="as given")
QKV = [(2, 8, 16)] * 3


def attention(q, k, v, scale, causal):
    s = q @ k.mT * scale
    hidden = torch.ones(s.shape[-2:], dtype=torch.bool).triu(1)
    return (s.masked_fill(hidden, float("-inf")) if causal else s).softmax(-1) @ v


def normed(x, *, dim=-1, eps=1e-5):
    return x * (x.square().mean(dim, keepdim=True) + eps).rsqrt()


@pytest.mark.parametrize(
    ("candidate", "like", "inputs", "said"),
    [
        (lambda *a: attention(*a[:4], False), attention, [*QKV, 0.25, True], "causal=false instead of causal=true"),
        (lambda *a: attention(*a[:3], 0.0625, a[4]), attention, [*QKV, 0.25, True], "scale=0.0625 instead of scale="),
        (lambda x: normed(x, dim=0), normed, [(6, 7)], "dim=0, another axis than dim=-1"),
        (lambda x: normed(x, eps=1e-4), normed, [(6, 32)], "eps=0.0001 instead of eps=1e-05"),
        (lambda x: normed(x, eps=1e-7), normed, [(6, 32)], "a smaller eps than 1e-05"),
        (lambda *a: attention(*a[:4], True), attention, [*QKV, 0.25, False], "causal=true instead of causal=false"),
    ],
)
def test_the_number_is_named(candidate, like, inputs, said):
    assert said in judged(candidate, like=like, inputs=inputs).worst.diagnosis


def test_of_gradients_too():
    wrong = lambda *a: attention(*a[:4], False)  # noqa: E731
    report = judged(wrong, like=attention, inputs=[*QKV, 0.25, True], gradients=True)
    said = {r.mode: r.diagnosis for rs in report.failures.values() for r in rs}
    assert said["gradient"].endswith("is that of causal=false instead of causal=true")


def test_arguments_in_a_nesting_have_no_names():
    def of_two(pair, scale):
        return pair[0] * scale + pair[1]

    inputs = lambda seed: [[torch.randn(4, 5), torch.randn(4, 5)], 0.5]  # noqa: E731
    report = judged(lambda pair, scale: of_two(pair, 0.3), like=of_two, inputs=inputs)
    assert report.failures
    assert "scale" not in report.worst.diagnosis
