"""What a check says of a failure holds of all its variants: a sentence that another one refutes is not said."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from opproof.harness.check.compared import compared  # noqa: E402
from opproof.harness.check.wish import Wish  # noqa: E402
from opproof.vocabulary.verdicts import FAILED  # noqa: E402

F = torch.nn.functional


def told(candidate, like, inputs, **wishes):
    """The sentence of each failure, and what it has for a message, by variant and mode."""
    report = compared(candidate, like, list(inputs), Wish(**{"seconds": 6.0, "gradients": False, **wishes}))
    failed = [r for r in report.results if r.verdict in FAILED]
    assert failed
    return {(report.variants[r.case], str(r.mode)): (r.diagnosis, r.message) for r in failed}


def affine(x, w, b):
    return F.linear(x, w, b)


def without_bias(x, w, b):
    return F.linear(x, w) + 0 * b.sum()


def without_bias_of_views(x, w, b):
    """The bias is added where the rows lie one behind the other, and nowhere else."""
    return affine(x, w, b) if x.is_contiguous() else without_bias(x, w, b)


LINEAR = ((4, 8), (3, 8), (3,))


def test_an_input_is_ignored_where_nothing_right_depends_on_it():
    found = told(without_bias, affine, LINEAR)
    assert found["as given", "forward"][0] == "the input b is ignored: it counts as 0"


def test_an_input_that_other_variants_are_right_with_is_not_ignored():
    found = told(without_bias_of_views, affine, LINEAR)
    assert found["transposed", "forward"][0] == "y0 is here that of b = 0, though b is not ignored everywhere"
    assert not any("is ignored" in said for said, _ in found.values())


def both(x, w):
    return torch.sin(x) * w, x + w


def test_an_input_that_another_output_is_right_with_is_not_ignored():
    found = told(lambda x, w: (torch.sin(x) + 0 * w, x + w), both, ((4, 8), (4, 8)))
    assert found["as given", "forward"][0] == "y0 is here that of w = 1, though w is not ignored everywhere"


class Frozen(torch.autograd.Function):
    """sin(a) b, whose backward has forgotten b."""

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a)
        return torch.sin(a) * b

    @staticmethod
    def backward(ctx, g):
        (a,) = ctx.saved_tensors
        return g * torch.cos(a), g * torch.sin(a)


def test_an_input_that_values_are_right_with_is_ignored_in_the_gradient():
    found = told(Frozen.apply, lambda a, b: torch.sin(a) * b, ((4, 8), (4, 8)), gradients=True)
    assert found["as given", "gradient"][0] == "the input b is ignored in the gradient: it counts as 1"


def select(a, b):
    return a - b


def test_an_input_read_in_place_of_another_in_one_variant_alone_is_not_said_to_be():
    found = told(lambda a, b: a - b if a.is_contiguous() else 0 * a, select, ((4, 8), (4, 8)))
    assert not any("is read in place of" in said for said, _ in found.values())
