"""Large values: another formula may round the inputs, and an overflow is told all the same."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402


def sinkhorn(x):
    for _ in range(5):
        x = x - x.logsumexp(-1, keepdim=True)
        x = x - x.logsumexp(-2, keepdim=True)
    return torch.exp(x)


def by_two_vectors(x):
    columns = torch.zeros_like(x[..., 0, :])
    for _ in range(5):
        rows = (x - columns[..., None, :]).logsumexp(-1)
        columns = (x - rows[..., None]).logsumexp(-2)
    return torch.exp(x - rows[..., None] - columns[..., None, :])


def without_the_largest(x):
    e = torch.exp(x.clamp(max=80))
    return e / e.sum(-1, keepdim=True)


def failed(candidate, like):
    def drawn(seed):
        return [torch.randn(2, 18, 8, generator=torch.Generator().manual_seed(seed))]

    return not opproof.check(candidate, like=like, inputs=drawn, raises=False, seconds=6).ok


def test_what_rounds_its_inputs_is_right():
    assert not failed(by_two_vectors, sinkhorn)


def test_what_is_off_by_more_is_wrong():
    assert failed(lambda x: by_two_vectors(x) * (1 + 2**-7 * (x > 99)), sinkhorn)
    assert failed(without_the_largest, lambda x: torch.softmax(x, -1))
