"""Kernels that are wrong at an end of what integers may be: an ignored class, a late row."""

import numpy as np
import pytest
from _ask import judged

from opproof.cases._registry import listed_cases
from opproof.reference_ops import load


class Kernel:
    name = "kernel"

    def __init__(self, wrong):
        self.wrong = wrong

    def forward(self, op, inputs, params):
        return [self.wrong(load(op).forward, *inputs, **params)]


def _first_class(right, x, target, *rest, ignore_index, **params):
    """An ignored target is read as class 0, unless it is a class."""
    target = np.where((target == ignore_index) & (target < 0), 0, target)
    return right(x, target, *rest, ignore_index=ignore_index, **params)


def _first_class_of_three(right, x, weight, target, **params):
    return _first_class(lambda x, target, **rest: right(x, weight, target, **rest), x, target, **params)


def _by_all_rows(right, x, target, weight=None, *, reduction, **params):
    if weight is not None or reduction != "mean":
        return right(x, target, weight, reduction=reduction, **params)
    return right(x, target, reduction="sum", **params) / target.size


def _in_16_bits(right, grad, indices, *, num_rows):
    y = right(grad, indices, num_rows=num_rows).copy()
    y[65535:] = 0
    return y


@pytest.mark.parametrize(
    ("op", "kernel"),
    [
        ("nll_loss", _first_class),
        ("cross_entropy", _first_class),
        ("linear_cross_entropy", _first_class_of_three),
        ("nll_loss", _by_all_rows),
        ("get_rows_back", _in_16_bits),
    ],
)
def test_some_row_shows_it(op, kernel):
    rows = [case for case in listed_cases(op) if case.dtype == "f32" and case.fill == "normal"]
    assert any(judged(Kernel(kernel), str(case), "forward").verdict == "WRONG_VALUE" for case in rows)


def test_targets_that_are_ignored_are_drawn_where_a_case_names_them():
    from opproof.harness.reference.data import inputs_of

    for op in ("nll_loss", "cross_entropy", "linear_cross_entropy"):
        for case in listed_cases(op):
            if case.kwargs.get("ignore_index") == -1:
                target = inputs_of(case, load(op))["target"]
                assert 0 < (target == -1).sum() < target.size
                assert target.min() == -1
