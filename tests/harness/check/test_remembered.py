"""References that keep something between calls, and other calls of PyTorch that once ended the judge."""

from __future__ import annotations

import functools

import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.core.errors import OpError  # noqa: E402

TABLES = {}
LATEST = None
CALLS = [0]


def made(n, dtype):
    steps = torch.arange(n, dtype=dtype)
    return torch.softmax(steps[:, None] * steps / n / n, -1)


@functools.lru_cache
def memoised(n, dtype):
    return made(n, dtype)


@functools.lru_cache
def of_length_alone(n):
    return made(n, torch.get_default_dtype())


def by_memoised(x):
    return x @ memoised(x.shape[-1], x.dtype)


def by_length(x):
    return x @ of_length_alone(x.shape[-1]).to(x.dtype)


def by_dictionary(x):
    key = (x.shape[-1], x.dtype)
    if key not in TABLES:
        TABLES[key] = made(*key)
    return x @ TABLES[key]


def by_global(x):
    global LATEST
    if LATEST is None or LATEST.shape[0] != x.shape[-1] or LATEST.dtype != x.dtype:
        LATEST = made(x.shape[-1], x.dtype)
    return x @ LATEST


class Cached(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(8))
        self.table = None

    def forward(self, x):
        if self.table is None or self.table.dtype != x.dtype:
            self.table = made(8, x.dtype)
        return x @ self.table * self.weight


class Plain(Cached):
    factor = 1.0

    def forward(self, x):
        return x @ made(8, x.dtype) * self.weight * self.factor


class Larger(Plain):
    factor = 1.0001


def failed(candidate, like, **options):
    options = {"inputs": [(6, 8)], "only": "as given", "raises": False, **options}
    report = opproof.check(candidate, like=like, **options)
    assert report.failures or report.ok, report
    return {*report.failures}


def fresh(x):
    return x @ made(x.shape[-1], x.dtype)


@pytest.mark.parametrize("like", [by_memoised, by_length, by_dictionary, by_global])
def test_a_table_that_a_reference_keeps_has_the_noise_of_every_evaluation(like):
    assert not failed(fresh, like)
    assert not failed(like, like)
    assert failed(lambda x: fresh(x) * 1.0001, like) == {"WRONG_VALUE", "WRONG_GRADIENT"}
    assert all(dtype == torch.float32 for _, dtype in TABLES)  # nothing of float64 is left behind
    assert like(torch.ones(2, 8)).dtype == torch.float32


def test_a_module_that_keeps_a_table():
    assert not failed(Plain(), Cached(), inputs=[(6, 8)])
    assert failed(Larger(), Cached(), inputs=[(6, 8)]) == {"WRONG_VALUE", "WRONG_GRADIENT"}


def test_what_takes_other_operations_each_time_is_refused_by_what_it_does():
    def counted(x):
        CALLS[0] += 1
        return x.exp().cumsum(0) if CALLS[0] % 2 else x.exp().sum(0, keepdim=True).expand(x.shape[0], -1) * 1.5

    with pytest.raises(OpError, match="the reference does not repeat itself"):
        failed(lambda x: x.exp().cumsum(0), counted)


def hessian(x):
    return torch.func.hessian(lambda z: torch.logsumexp(z, -1))(x)


def by_shares(x):
    y = torch.softmax(x, -1)
    return torch.diag(y) - y[:, None] * y


def sorted_first(x, w):
    return x.transpose(0, 1).sort(-1).values @ w


def stored(x):
    y = torch.empty_like(x)
    torch.add(x, 1, out=y)
    return torch.exp(y, out=y)


def by_keyword(x):
    return torch.logsumexp(input=x, dim=-1, keepdim=True) * x


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch.func's own
@pytest.mark.parametrize(
    ("like", "kernel", "inputs", "gradients"),
    [
        (hessian, by_shares, [(5,)], False),
        (sorted_first, lambda x, w: torch.einsum("ijk,kl->jil", x.sort(-1).values, w), [(3, 6, 8), (8, 4)], False),
        (stored, lambda x: (x + 1).exp(), [(6, 8)], False),
        (by_keyword, lambda x: x.exp().sum(-1, keepdim=True).log() * x, [(6, 8)], True),
    ],
)
def test_calls_that_ended_the_judge(like, kernel, inputs, gradients):
    """Other ways are measured of what fails: both have to come through."""
    assert not failed(kernel, like, inputs=inputs, gradients=gradients)
    wrong = failed(lambda *t: kernel(*t) * 1.0001, like, inputs=inputs, gradients=gradients)
    assert wrong == {"WRONG_VALUE", "WRONG_GRADIENT"} - (set() if gradients else {"WRONG_GRADIENT"})
