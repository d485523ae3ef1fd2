"""Other honest ways of computing the same: their errors are measured, and no more than these are allowed."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from opproof.harness.check.options import CheckOptions  # noqa: E402
from opproof.harness.check.run import check_candidate  # noqa: E402
from opproof.harness.reference.torch.alternatives import widen_truth  # noqa: E402
from opproof.harness.reference.torch.evaluate import TorchQuestion, compute_truth  # noqa: E402

pytestmark = pytest.mark.usefixtures("usual_values")

F = torch.nn.functional
ALONE = CheckOptions(dtype="f32", seconds=1e9, neighbours=False)


def question(f, *inputs):
    g = np.random.default_rng(1).standard_normal(tuple(f(*map(torch.from_numpy, inputs))[0].shape))
    count = len(inputs)
    return TorchQuestion(f, inputs, (True,) * count, ("f32",), ("f32",) * count, (g,))


def drawn(shape, factor, offset=0.0, seed=0):
    return (np.random.default_rng(seed).standard_normal(shape) * factor + offset).astype(np.float32).astype(np.float64)


def checked(candidate, reference, *inputs):
    return check_candidate(candidate, reference, lambda seed: [torch.from_numpy(x).float() * 1 for x in inputs], ALONE)


def of_wide(seed):
    torch.manual_seed(seed)
    return [torch.randn(16, 24) * 6, torch.randn(24, 31) * 6, torch.randint(31, (16,))]


def by_logsumexp(x, w, t, gain=1.0):
    z = x @ w
    return (z.logsumexp(-1) - z.gather(-1, t[:, None])[:, 0] * gain).mean()


def test_a_logsumexp_that_is_saved_is_honest_and_a_gain_is_not():
    def reference(x, w, t):
        return F.cross_entropy(x @ w, t)

    assert check_candidate(by_logsumexp, reference, of_wide, CheckOptions(seconds=1e9, neighbours=False)).ok
    report = check_candidate(
        lambda *a: by_logsumexp(*a, gain=1.001), reference, of_wide, CheckOptions(seconds=1e9, neighbours=False)
    )
    assert set(report.failures) <= {"WRONG_VALUE", "WRONG_GRADIENT"}
    assert report.failures


def top_of_shares(x):
    best = x.softmax(-1).topk(2, -1)[0]
    return best / best.sum(-1, keepdim=True)


def test_a_saturated_backward_in_other_steps_is_honest():
    x = drawn((32, 16), 6.0)
    assert checked(lambda x: x.topk(2, -1)[0].softmax(-1), top_of_shares, x).ok


def test_a_saturated_backward_without_its_sum_is_not():
    class NoSum(torch.autograd.Function):
        @staticmethod
        def forward(ctx, z):
            y = z.softmax(-1)
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            (y,) = ctx.saved_tensors
            return y * (g - 0.999 * (g * y).sum(-1, keepdim=True))

    x = drawn((32, 16), 6.0)
    report = checked(lambda x: NoSum.apply(x.topk(2, -1)[0]), top_of_shares, x)
    assert set(report.failures) == {"WRONG_GRADIENT"}


def test_a_sigmoid_by_its_complement_is_honest_where_it_is_small():
    x = drawn((16, 32), 6.0)
    assert checked(lambda x: torch.sigmoid(-x), lambda x: 1 / (1 + x.exp()), x).ok


def test_what_is_saturated_alone_is_given_more():
    """A roundoff of the largest element, as was allowed before, is hundreds of times what most elements need."""
    x = drawn((64, 32), 6.0)
    asked = question(lambda x: [x.softmax(-1)], x)
    known = compute_truth(asked)
    before, after = known.gradients[0], widen_truth(asked, known).gradients[0]
    size = np.abs(before.values)
    looser = (after.scale + size) / (before.scale + size)
    largest = np.maximum(before.scale, size.max() / 16)
    assert np.median(looser) < 3
    assert np.median((largest + size) / (before.scale + size)) > 100


def test_what_a_backward_evaluates_again_draws_no_sign():
    """exp(x - logsumexp(x)) of the backward with the sign of its argument drawn was e^40."""
    x = drawn((16, 32), 6.0)
    asked = question(lambda x: [x.logsumexp(-1)], x)
    known = compute_truth(asked)
    before, after = known.gradients[0], widen_truth(asked, known).gradients[0]
    assert after.scale.max() < 2 * before.scale.max()


def test_of_equal_elements_topk_may_take_any_and_of_others_not():
    x = np.tile(np.array([3.0, 1.0, 1.0, 1.0, 0.0]), (4, 1))

    def reference(x):
        return x.topk(2, -1)

    def last(x, shift=0):
        values, places = x.flip(-1).topk(2, -1)
        return values, (x.shape[-1] - 1 - places - shift) % x.shape[-1]

    def tried(f):
        return check_candidate(
            f, reference, lambda seed: [torch.from_numpy(x + seed).float()], CheckOptions(seconds=1, neighbours=False)
        )

    assert not tried(last).failures
    assert "WRONG_VALUE" in tried(lambda x: last(x, shift=1)).failures


def sums(seed):
    torch.manual_seed(seed)
    return [torch.randn(6, 9)]


def test_values_at_which_the_reference_overflows_are_not_judged():
    def naive(x):
        return x.exp().sum(-1).log()

    def split(x):
        return (x[:, :4].exp().sum(-1) + x[:, 4:].exp().sum(-1)).log()

    large = CheckOptions(seconds=1e9, only="large values")
    report = check_candidate(split, naive, sums, large)
    assert not report.failures, report
    assert any("large values" in text and "overflows" in text for text in report.not_judged)
    assert "WRONG_VALUE" in check_candidate(naive, lambda x: x.logsumexp(-1), sums, large).failures


@pytest.mark.parametrize(("gain", "verdicts"), [(1.0, set()), (1.001, {"WRONG_GRADIENT"})])
def test_equal_terms_summed_one_after_another_are_honest_and_a_gain_is_not(gain, verdicts):
    """The gradient of a bias before a mean: 4096 times the same, in float32 up to 31 of the bound's units off."""

    class Biased(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, b):
            return x + b

        @staticmethod
        def backward(ctx, g):
            terms = g.numpy().astype(np.float32)
            return g, torch.from_numpy(np.add.accumulate(terms, axis=0)[-1].copy()) * gain

    x, b = drawn((4096, 24), 1.0), drawn((24,), 1.0)
    report = checked(lambda x, b: Biased.apply(x, b).mean(0), lambda x, b: (x + b).mean(0), x, b)
    assert set(report.failures) == verdicts, report


def delta_rule(q, k, v, decay, rate):
    """Gated delta rule, token by token: (tokens, d), decays and rates as logits."""
    k = F.normalize(k, dim=-1)
    state, rows = q.new_zeros(k.shape[1], v.shape[1]), []
    for t in range(q.shape[0]):
        state = state * torch.exp(-F.softplus(decay[t]))
        state = state + torch.sigmoid(rate[t]) * torch.outer(k[t], v[t] - k[t] @ state)
        rows.append(q[t] @ state)
    return torch.stack(rows)


def delta_rule_at_once(q, k, v, decay, rate, diagonal=-1):
    """The same as a triangular system; decays are differences of a cumulative sum."""
    k = k * torch.rsqrt((k * k).sum(-1, keepdim=True))
    total, rate = torch.cumsum(-F.softplus(decay), 0), torch.sigmoid(rate)[:, None]
    left = torch.tril(torch.exp(torch.tril(total[:, None] - total)))
    inner = torch.eye(len(q)) + torch.tril((k @ k.T) * left, diagonal) * rate
    return (torch.tril(q @ k.T) * left) @ torch.linalg.solve_triangular(inner, rate * v, upper=False)


@pytest.mark.parametrize(("diagonal", "verdicts"), [(-1, set()), (0, {"WRONG_VALUE", "WRONG_GRADIENT"})])
def test_decays_as_differences_of_cumulative_sums_are_honest(diagonal, verdicts):
    """The first decay has a gradient of 0: of differences there is left a roundoff of the terms, of others' too."""
    inputs = [(7, 6), (7, 6), (7, 5), (7,), (7,)]
    report = check_candidate(lambda *t: delta_rule_at_once(*t, diagonal=diagonal), delta_rule, inputs, ALONE)
    assert set(report.failures) == verdicts, report
