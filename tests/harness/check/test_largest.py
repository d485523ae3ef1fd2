"""Autograd through x - amax(x), as most write softmax by hand: what it rounds is allowed for, and nothing else is."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402

LABELS = torch.arange(16) * 7


def shifted(x, cut):
    """x - its largest, and the largest; `cut`: autograd sees the latter alone."""
    m = x.amax(-1, keepdim=True)
    return (x - m.detach() if cut else x - m), m


def softmax(x, cut=False):
    e = shifted(x, cut)[0].exp()
    return e / e.sum(-1, keepdim=True)


def log_softmax(x, cut=False):
    d, m = shifted(x, cut)
    return d - d.exp().sum(-1, keepdim=True).log() + (m - m.detach() if cut else 0)


def logsumexp(x, cut=False):
    d, m = shifted(x, cut)
    return (m + d.exp().sum(-1, keepdim=True).log())[..., 0]


def cross_entropy(x, cut=False):
    return -log_softmax(x, cut)[torch.arange(16), LABELS].mean()


CASES = {
    "softmax": (lambda x: torch.softmax(x, -1), softmax),
    "log_softmax": (lambda x: torch.log_softmax(x, -1), log_softmax),
    "logsumexp": (lambda x: x.logsumexp(-1), logsumexp),
    "logsumexp kept": (lambda x: torch.logsumexp(x, (-1,), keepdim=True)[..., 0], logsumexp),
    "cross_entropy": (lambda x: torch.nn.functional.cross_entropy(x, LABELS), cross_entropy),
}


@pytest.mark.parametrize("name", CASES)
def test_the_largest_element_has_the_roundoffs_of_its_row(name):
    reference, candidate = CASES[name]
    given = {"like": reference, "inputs": [(16, 320)], "only": "small values", "raises": False}
    report = opproof.check(candidate, **given)
    assert report.ok, report
    if name != "softmax":  # of which the largest is detached by many, and that is right
        assert {*opproof.check(lambda x: candidate(x, cut=True), **given).failures} == {"WRONG_GRADIENT"}
    off = opproof.check(lambda x: candidate(x) * (1 + 1e-4 * (x - x.detach()).amax(-1, keepdim=True).sum()), **given)
    assert {*off.failures} == {"WRONG_GRADIENT"}
