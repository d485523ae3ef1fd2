"""A check says of the failure that it shows first which levels it needs, and which neighbour passes."""

import json

import pytest
import torch

import opproof
from opproof.harness.check import neighbours
from opproof.harness.space import delta as deltas


def rows(n, m, dtype=torch.float32):
    return lambda seed: (torch.randn(n, m, generator=torch.Generator().manual_seed(seed)).to(dtype),)


def softmax(x):
    return torch.softmax(x, -1)


def past_a_tile(x):
    y = softmax(x)
    return torch.cat([y[..., :64], y[..., 64:] * 1.5], -1)


def of_strides(x):
    return torch.relu(x if x.is_contiguous() else x.contiguous().flip(-1))


def of_whole_rows(x):
    """Wrong where rows are a multiple of 8 and columns are none: a conjunction."""
    y = torch.relu(x)
    return y + (x.shape[0] % 8 == 0 and x.shape[-1] % 8 != 0)


def always(x):
    return torch.relu(x) * 1.01


@pytest.mark.parametrize(
    ("candidate", "like", "given", "said"),
    [
        (past_a_tile, softmax, rows(4, 97), "fails where axis -1 of x is 65 or more; passes at 64"),
        (of_strides, torch.relu, rows(5, 33), "fails where x0 is transposed; passes with x0 contiguous"),
        (
            of_whole_rows,
            torch.relu,
            rows(16, 33),
            "fails where axis -1 of x0 is no multiple of 8 and axis -2 of x0 is a multiple of 8; passes at 8, at 9",
        ),
    ],
)
def test_the_first_failure_says_what_it_needs(candidate, like, given, said):
    report = opproof.check(candidate, like=like, inputs=given, raises=False)
    worst = report.worst
    assert worst.delta == said
    head, first, *_ = report._show_failure(worst).split("\n")
    assert first == f"  {said}"
    assert head.startswith(worst.verdict)
    assert json.loads(report.to_json())["smallest"]["delta"] == said


def test_what_fails_everywhere_says_nothing():
    report = opproof.check(always, like=torch.relu, inputs=rows(16, 33), raises=False)
    assert {r.delta for r in report.results} == {""}


def test_what_passes_says_nothing():
    report = opproof.check(softmax, like=softmax, inputs=rows(4, 33), raises=False)
    assert {r.delta for r in report.results} == {""}


def test_few_neighbours_are_asked(monkeypatch):
    asked = []
    fails = neighbours.VariantNeighbours.fails
    monkeypatch.setattr(
        neighbours.VariantNeighbours, "fails", lambda self, case: asked.append(case) or fails(self, case)
    )
    opproof.check(past_a_tile, like=softmax, inputs=rows(4, 97), raises=False)
    assert 3 < len(asked) <= deltas.MAX_CALLS + 1


def test_without_time_nothing_is_said(monkeypatch):
    monkeypatch.setattr(neighbours, "MAX_SECONDS", 0.0)
    assert opproof.check(past_a_tile, like=softmax, inputs=rows(4, 97), raises=False).worst.delta == ""


def test_a_function_that_stands_for_an_operator_says_it_too():
    def wrong(x, *, dim):
        y = torch.softmax(x, dim)
        return y * 1.5 if x.shape[-1] > 16 and x.dtype == torch.float16 else y

    with pytest.raises(
        AssertionError, match=r"fails where the dtype is f16 and axis -1 of x is 17 or more; passes in f32, at 16"
    ):
        opproof.check(wrong, op="softmax", gradients=False)
