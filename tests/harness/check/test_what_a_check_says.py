"""What a check says of a failure holds of all its variants: a sentence that another one refutes is not said."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from opproof.core.verdicts import FAILED  # noqa: E402
from opproof.harness.check import summary  # noqa: E402
from opproof.harness.check.options import CheckOptions  # noqa: E402
from opproof.harness.check.run import check_candidate  # noqa: E402

F = torch.nn.functional


def told(candidate, like, inputs, **wishes):
    """The sentence of each failure, and what it has for a message, by variant and mode."""
    report = check_candidate(
        candidate, like, list(inputs), CheckOptions(**{"seconds": 6.0, "gradients": False, **wishes})
    )
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


def shares(x):
    return torch.softmax(x, -1)


def times(factor):
    """Shares in float32, all of them too large by a factor."""
    return lambda x: (torch.softmax(x.float(), -1) * factor).to(x.dtype)


def in_steps(x):
    """Shares each step of which is rounded."""
    e = torch.exp(x - x.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_a_declaration_is_advised_where_steps_are_rounded(dtype):
    found = told(in_steps, shares, ((16, 64),), dtype=dtype, only="as given")
    assert 'declare that with compute="storage"' in found["as given", "forward"][1]


@pytest.mark.parametrize("known", [False, True])
def test_no_declaration_is_advised_where_a_factor_is_named(known, monkeypatch):
    """0.003 of shares in f16 is as much as steps make that are rounded; that it is one factor says more."""
    if not known:
        monkeypatch.setattr(summary, "by_rule", lambda results, judgements: False)
    x = torch.randn(16, 64, generator=torch.Generator().manual_seed(1)).half()
    diagnosis, message = told(times(1.003), shares, (x,), only="wide values")["wide values", "forward"]
    assert diagnosis == "every element of y0 is 1.003 × the expected value"
    assert ("declare" in message) is not known


def numbers_from(least):
    def make(seed, dtype):
        return [torch.rand(16, 64, generator=torch.Generator().manual_seed(seed)) * (1 - least) + least]

    return make


NEAR_ONE = "as where 1 is added and taken away again"


def given(candidate, like, least, **wishes):
    report = check_candidate(candidate, like, numbers_from(least), CheckOptions(seconds=6.0, gradients=False, **wishes))
    return {report.variants[r.case]: r.diagnosis for r in report.results if r.verdict in FAILED}


def test_digits_are_lost_beside_1_in_every_variant():
    found = given(lambda x: torch.log(1 + x), torch.log1p, 0.0)
    assert NEAR_ONE in found["as given"]


def test_digits_are_not_lost_beside_1_where_another_variant_is_far_off():
    """√(x + 1e-7) is off by 3e-7 where x is 0.03, and by 3e-6 where it is small."""

    def shifted(x):
        return torch.sqrt(x + 1e-7)

    assert NEAR_ONE in given(shifted, torch.sqrt, 0.01, only="as given")["as given"]
    found = given(shifted, torch.sqrt, 0.01)
    assert {"as given", "small values"} <= set(found)
    assert not any(NEAR_ONE in said for said in found.values())


def test_a_region_in_16_bits():
    """Beside a precision that might be declared, which is not what is wrong."""

    def wrong_at_the_end(x):
        y = torch.softmax(x.float(), -1) * 2 + x.float()
        y[..., -1] *= 1.2
        return y.to(x.dtype)

    wish = CheckOptions(dtype="bf16", gradients=False, only="as given")
    report = check_candidate(wrong_at_the_end, lambda x: torch.softmax(x, -1) * 2 + x, [(8, 33)], wish)
    assert "only the elements past 32 along axis 1" in report.results[0].diagnosis
