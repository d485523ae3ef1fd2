"""One tensor far above the others, as a sink beside scores; places chosen by what is no number; numbers below all."""

from functools import partial

import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402

judged = partial(opproof.check, seconds=20, raises=False)
SHAPES = [(3, 10), (3,)]


def sunk(scores, sink):
    return torch.cat([scores, sink[:, None]], -1).softmax(-1)[:, :-1]


def by_its_own_maximum(scores, sink):
    most = scores.amax(-1, keepdim=True).detach()
    e = (scores - most).exp()
    return e / (e.sum(-1, keepdim=True) + (sink[:, None] - most).exp())


def of_both(scores, sink):
    most = torch.maximum(scores.amax(-1), sink)[:, None].detach()
    e = (scores - most).exp()
    return e / (e.sum(-1, keepdim=True) + (sink[:, None] - most).exp())


def test_a_tensor_left_out_of_the_maximum_overflows():
    report = judged(by_its_own_maximum, like=sunk, inputs=SHAPES, only="large sink")
    assert list(report.failures) == ["WRONG_GRADIENT"]
    assert not judged(of_both, like=sunk, inputs=SHAPES, only="large sink").failures


def sampled(logits, u):
    p = logits.softmax(-1)
    return (p.log() - (-u.log()).log()).argmax(-1), p


def raced(logits, u):
    p = logits.softmax(-1)
    return (-u.log() / p).argmin(-1), p


def uniform(seed):
    rng = torch.Generator().manual_seed(seed)
    return [torch.randn(9, 30, generator=rng), torch.rand(9, 30, generator=rng) * 0.98 + 0.01]


def test_a_place_chosen_by_no_number_says_nothing():
    report = judged(raced, like=sampled, inputs=uniform)
    assert report.ok
    assert "wide values: the reference: NaN in float64 itself" in report.not_judged
    assert judged(lambda x, u: (raced(x, u)[0] // 2, x.softmax(-1)), like=sampled, inputs=uniform).failures


def test_terms_below_the_normal_range_may_be_flushed_of_a_sum():
    def tree(x):
        step = 1
        while step < x.shape[-1]:
            x = torch.cat([x[..., :step], torch.logaddexp(x[..., step:], x[..., :-step])], -1)
            step *= 2
        return x

    inputs = lambda seed: [torch.randn(5, 40, generator=torch.Generator().manual_seed(seed))]  # noqa: E731
    assert judged(tree, like=lambda x: x.logcumsumexp(-1), inputs=inputs, only="large values").ok


def test_shares_of_one_are_tied_among_themselves():
    def all_of_them(p):
        least = p.topk(4, -1).values[..., -1:]
        kept = torch.where(p < least, 0, p)
        return kept / kept.sum(-1, keepdim=True)

    def four_of_them(p):
        values, places = torch.sort(p, dim=-1, descending=True, stable=True)
        values = torch.where(torch.arange(p.shape[-1]) < 4, values, 0)
        return torch.zeros_like(p).scatter(-1, places, values / values.sum(-1, keepdim=True))

    def shares(seed):
        return [torch.randn(6, 20, generator=torch.Generator().manual_seed(seed)).softmax(-1)]

    report = judged(four_of_them, like=all_of_them, inputs=shares, gradients=False, only="ties")
    assert list(report.failures) == ["WRONG_VALUE"]


def test_what_cannot_be_changed_is_not_said_to_be_tried():
    whole = lambda seed: [torch.randint(0, 9, (6, 5), generator=torch.Generator().manual_seed(seed))]  # noqa: E731
    report = judged(lambda x: x + 1, like=lambda x: 1 + x, inputs=whole)
    assert report.ok
    assert "transposed" in report.tried
    assert not {"small values", "ties", "broadcast"} & {*report.tried}
