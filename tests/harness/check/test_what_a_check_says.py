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


SQUARES = (
    "y0 is wrong where numbers are far from 0 beside their spread, by what rounding makes of x²: "
    "as where a variance is the difference of E[x²] and E[x]²"
)


def normed(x, w):
    """Rows of groups, of two axes each."""
    return F.group_norm(x, 2) * w


def normed_by_squares(x, w):
    rows = x.reshape(x.shape[0], 2, -1)
    mean = rows.mean(-1, keepdim=True)
    variance = (rows * rows).mean(-1, keepdim=True) - mean * mean
    return ((rows - mean) * torch.rsqrt(variance + 1e-5)).reshape(x.shape) * w


def similar(x, y):
    """What SSIM is of one window: of variances and a covariance."""
    mx, my = x.mean(-1, keepdim=True), y.mean(-1, keepdim=True)
    vx, vy, c = (x - mx).square().mean(-1), (y - my).square().mean(-1), ((x - mx) * (y - my)).mean(-1)
    return (2 * c + 1e-3) / (vx + vy + 1e-3)


def similar_by_squares(x, y):
    mx, my = x.mean(-1), y.mean(-1)
    vx, vy, c = (x * x).mean(-1) - mx * mx, (y * y).mean(-1) - my * my, (x * y).mean(-1) - mx * my
    return (2 * c + 1e-3) / (vx + vy + 1e-3)


@pytest.mark.parametrize(
    ("candidate", "like", "inputs"),
    [
        (normed_by_squares, normed, ((3, 4, 24), (24,))),
        (similar_by_squares, similar, ((5, 49), (5, 49))),
        (lambda x: normed_by_squares(x, 1.0), lambda x: F.group_norm(x, 2), ((3, 4, 24),)),
    ],
)
def test_a_variance_by_squares_is_named_where_only_far_numbers_fail(candidate, like, inputs):
    found = told(candidate, like, inputs)
    assert found["negative values", "forward"][0] == SQUARES
    assert ("as given", "forward") not in found


@pytest.mark.parametrize(
    "candidate",
    [
        lambda x, w: normed(x, w) * (1 + 1e-4),  # wrong everywhere
        lambda x, w: normed(x, w) + 1e-5 * x.mean().abs(),  # far from 0 by another amount
        lambda x, w: torch.where(x.mean() < -50, torch.nan, normed(x, w)),
    ],
)
def test_what_fails_in_another_way_far_from_0_is_no_variance_by_squares(candidate):
    assert SQUARES not in {said for said, _ in told(candidate, normed, ((3, 4, 24), (24,))).values()}


class GivenBack(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x)
        ctx.factor = factor
        return x.logsumexp(-1)

    @staticmethod
    def backward(ctx, g):
        return ctx.factor * ctx.saved_tensors[0], None


@pytest.mark.parametrize(("factor", "is_copy"), [(1.0, True), (1.5, False)])
def test_a_gradient_that_is_the_input_itself(factor, is_copy):
    found = told(
        lambda x: GivenBack.apply(x, factor), lambda x: x.logsumexp(-1), ((5, 24),), gradients=True, neighbours=False
    )
    assert (found["as given", "gradient"][0] == "the gradient of x is a copy of x") is is_copy


def root_mean_square(x, eps=1e-5):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps)


UNUSED = "eps of the reference has no effect on the candidate: it gives the same bits for 0.2 as for 0.1"


@pytest.mark.parametrize(
    ("candidate", "is_unused"),
    [(lambda x, eps: root_mean_square(x, 1e-6), True), (lambda x, eps: root_mean_square(x, eps / 2), False)],
)
def test_a_number_of_the_reference_that_has_no_effect(candidate, is_unused):
    def inputs(seed):
        return [0.1 * torch.randn(5, 24, generator=torch.Generator().manual_seed(seed)), 0.1]

    report = check_candidate(candidate, root_mean_square, inputs, CheckOptions(neighbours=False))
    assert all(r.message.startswith(UNUSED) is is_unused for r in report.results)
    assert len(report.results) == 2


class SummedInItsDtype(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, factor):
        ctx.save_for_backward(x, w)
        ctx.factor = factor
        return x * w

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        total = torch.zeros_like(w)
        for i in range(x.shape[0]):
            total = total + g[i] * x[i]
        return g * w, ctx.factor * total, None


@pytest.mark.parametrize(("factor", "is_sum"), [(1.0, True), (-1.0, False)])
def test_a_backward_that_accumulates_in_bf16(factor, is_sum):
    found = told(
        lambda x, w: SummedInItsDtype.apply(x, w, factor), lambda x, w: x * w, ((256, 24), (24,)),
        dtype="bf16", gradients=True, neighbours=False,
    )  # fmt: skip
    said = "its backward accumulates in bf16, or it is within what that makes: "
    message = found["as given", "gradient"][1]
    assert message.startswith(said) is is_sum
    assert CAST not in message  # no store between steps explains it


CAST = ", or write that cast in the reference too, as weight * h.to(dtype)"


def test_a_cast_is_to_be_written_in_the_reference_beside_storage():
    def in_steps(a, b, c, d):
        y = a
        for t in (b, c, d):
            y = (y * t).bfloat16().to(a.dtype)
        return y

    found = told(in_steps, lambda a, b, c, d: a * (b * (c * d)), ((64, 96),) * 4, dtype="bf16", neighbours=False)
    _, message = found["as given", "forward"]
    assert message.endswith(f'compute="storage" (--compute storage), or keep float32 there{CAST}')
