"""A result of few numbers, as a loss, that is off in all variants alike is wrong, though each is within its bound."""

import re

import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.harness.check.judge.compare import find_shared_error  # noqa: E402


def like(a, b, c):
    """The norm of gradients together, as what clips them works it out."""
    return torch.sqrt(a.square().sum() + b.square().sum() + c.square().sum())


def make_norm(factor, store=lambda x: x):
    def norm(a, b, c):
        parts = [torch.linalg.vector_norm(t.float()) for t in (a, b, c)]
        return (torch.linalg.vector_norm(torch.stack([store(p) for p in parts])) * factor).to(a.dtype)

    return norm


def check(candidate, **how):
    options = {"inputs": [(5, 6), (17,), (3, 4, 2)], "gradients": False, "seconds": 4, "raises": False, **how}
    return opproof.check(candidate, like=like, dtype="bf16", compute="storage", **options)


def test_a_norm_that_is_5_percent_too_large_in_all_variants_is_wrong():
    report = check(make_norm(1.05))
    (failures,) = report.failures.values()
    (wrong,) = failures
    assert wrong.verdict == "WRONG_VALUE"
    said = (
        r"y0 in \d+ variants: every element is within its bound, but all are 0\.05\d* of their size too large together"
    )
    assert re.match(said, wrong.message)


def test_it_is_right_by_each_variant_alone():
    assert check(make_norm(1.05), only="as given").ok


@pytest.mark.parametrize("store", [lambda x: x, lambda x: x.bfloat16().float()])
def test_an_honest_norm_passes(store):
    assert check(make_norm(1.0, store)).ok


def test_of_nothing_nothing_is_said():
    assert find_shared_error([]) is None
