"""A factory that gives a tensor for some seeds and None for others: each form is judged, by its own draws."""

from functools import partial

import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.core.errors import UsageError  # noqa: E402


def linear(x, w, bias):
    return x @ w if bias is None else x @ w + bias


def inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    bias = torch.randn(7, generator=rng) if seed % 2 else None
    return [torch.randn(5, 12, generator=rng), torch.randn(12, 7, generator=rng), bias]


judged = partial(opproof.check, like=linear, inputs=inputs, seconds=6, raises=False)


def shapes(report):
    return {"bias" in r.case for r in report.results}


def test_both_forms_are_judged():
    report = judged(linear)
    assert report.ok
    assert shapes(report) == {True, False}


@pytest.mark.parametrize("wrong", [True, False])
def test_what_is_wrong_in_one_form_alone_fails(wrong):
    report = judged(lambda x, w, bias: linear(x, w, bias) * (1.5 if (bias is None) is wrong else 1))
    failed = {"bias" in r.case for rs in report.failures.values() for r in rs}
    assert failed == {not wrong}


def test_one_variant_of_either_form_is_tried_again():
    assert shapes(judged(linear, only="as given")) == {True, False}
    assert shapes(judged(linear, only="bias of zeros")) == {True}
    with pytest.raises(UsageError, match="only='nowhere' is no variant"):
        judged(linear, only="nowhere")


def test_a_form_of_few_seeds_is_drawn_from_those_that_it_has():
    def seldom(seed):
        given = inputs(1)
        return given if seed == 3 else [*given[:2], None]

    assert shapes(opproof.check(linear, like=linear, inputs=seldom, seconds=6)) == {True, False}


def test_a_draw_whose_form_is_looked_at_is_not_made_twice():
    seeds = []

    def counted(seed):
        seeds.append(seed)
        return inputs(1)

    opproof.check(linear, like=linear, inputs=counted, seconds=2, gradients=False, neighbours=False)
    assert [seeds.count(n) for n in range(2, 6)] == [1] * 4
