"""A reference that decides by rounded numbers: who decides otherwise passes there, and is judged everywhere else."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.harness.reference.torch.alternatives import BranchEffect  # noqa: E402


def judged(candidate, like, inputs, **options):
    return opproof.check(candidate, like=like, inputs=inputs, dtype="f32", raises=False, seconds=1e9, **options)


def told(report):
    return {(report.variants[r.case], str(r.verdict)) for rs in report.failures.values() for r in rs}


def above(x):
    return torch.where(x > 0.5, x, 0.0)


def test_an_input_that_equals_a_constant_is_no_matter_of_rounding():
    """The gradient at a jump is between both sides, as at a kink."""
    assert judged(above, above, [(8, 16)], only="ties").ok
    found = told(judged(lambda x: torch.where(x >= 0.5, x, 0.0), above, [(8, 16)], only="ties"))
    assert found == {("ties", "WRONG_VALUE")}


def quantised(x):
    """Integers, by a scale of each row."""
    scale = x.abs().amax(-1, keepdim=True) / 127
    return (x / scale).round().to(torch.int8), scale


def by_reciprocal(x):
    most = x.abs().amax(-1, keepdim=True)
    return (x * (127 / most)).round().to(torch.int8), most / 127


def made(seed, dtype):
    return [torch.randn(64, 256, generator=torch.Generator().manual_seed(seed)).to(dtype)]


def test_a_ratio_that_is_rounded():
    assert judged(by_reciprocal, quantised, made, gradients=False).ok


@pytest.mark.parametrize("wrong", [0, 1])
def test_what_is_wrong_beside_what_rounding_decides_is_wrong_in_every_draw(wrong):
    """Every draw has elements that rounding decides; one wrong element among them is not one of these."""

    def one_off(x):
        q, scale = by_reciprocal(x)
        q[3, 5] += wrong
        return q, scale

    report = judged(one_off, quantised, made, gradients=False, only="as given")
    assert told(report) == ({("as given", "WRONG_VALUE")} if wrong else set())


def likely(x, most=0.7, above=0.0):
    """The shares that come before `most` of all, each as a share of these."""
    shares, places = torch.softmax(x, -1).sort(-1, descending=True)
    kept = torch.where(shares.cumsum(-1) - shares < most + above, shares, 0.0)
    return torch.zeros_like(x).scatter(-1, places, kept / kept.sum(-1, keepdim=True))


def by_weights(x, above=0.0):
    e = (x - x.amax(-1, keepdim=True)).exp()
    e, places = e.sort(-1, descending=True)
    kept = torch.where(e.cumsum(-1) - e < (0.7 + above) * e.sum(-1, keepdim=True), e, 0.0)
    return torch.zeros_like(x).scatter(-1, places, kept / kept.sum(-1, keepdim=True))


def test_a_sum_that_is_compared():
    assert judged(by_weights, likely, [(16, 33)]).ok
    assert judged(lambda x: by_weights(x, 0.02), likely, [(32, 33)], only="as given").failures


def test_a_reference_that_goes_another_way():
    """The sum is 0 but for its rounding: whoever multiplies by 3 then is as right as who does by 2."""

    def branched(x):
        return x * 2 if x.sum() > 0 else x * 3

    def inputs(seed, dtype):
        x = torch.randn(64, generator=torch.Generator().manual_seed(seed)).to(dtype)
        return [torch.cat([x, -x])]

    def beside(seed, dtype):
        return [torch.ones(64, dtype=dtype)]

    failing = "WRONG_VALUE", "WRONG_GRADIENT"
    for factor, wrong, wrong_beside in ((2, (), ()), (3, (), failing), (5, failing, failing)):
        for draws, expected in ((inputs, wrong), (beside, wrong_beside)):
            report = judged(lambda x, by=factor: x * by, branched, draws, only="as given")
            assert tuple(report.failures) == expected


def test_other_steps_where_rounding_decides_otherwise_tell_nothing():
    def summed(x):
        return (x[x / 3 > 1 / 3] * 2).sum()

    def inputs(seed, dtype):
        return [torch.ones(8, dtype=dtype)]

    report = judged(lambda x: (x * 7).sum(), summed, inputs, only="as given")
    assert {str(r.verdict) for r in report.results} == {"INCONCLUSIVE"}
    assert "other steps where rounding decides otherwise" in report.results[0].message


def test_by_how_much():
    end = BranchEffect(np.array([0.0, -1.0, 0.0, -2.0]), np.array([0.0, 0.0, 1.0, 0.0]))
    assert end.find_reached(np.array([0.1, -1.05, 1.05, 2.05]), np.full(4, 0.1)).tolist() == [False, True, True, True]
    assert end.find_reached(np.array([5.0, -2.2, 2.2, 2.2]), np.full(4, 0.1)).tolist() == [False, False, False, False]
    whole = np.zeros(4)
    assert end.find_reached(np.array([0.0, -1, 2, 1]), whole).tolist() == [False, True, False, False]


def test_a_place_past_the_end_where_rounding_decides_otherwise():
    """A share drawn at the end of all shares: with other roundings it is past them, and nothing is known of that."""

    def picked(p, u):
        order = p.sort(-1, descending=True)
        c = order.values.cumsum(-1)
        place = (c < u[:, None] * c[:, -1:]).sum(-1)
        return order.indices.gather(1, place[:, None])[:, 0]

    def inputs(seed):
        rng = torch.Generator().manual_seed(seed)
        return [torch.randn(8, 20, generator=rng).softmax(-1), torch.ones(8)]

    def wrong(p, u):
        return picked(p, u * 0.5)

    report = opproof.check(wrong, like=picked, inputs=inputs, seconds=5, raises=False)
    assert report.failures or not report.ok


def test_who_chooses_by_what_shares_are_made_of():
    """Of large numbers most shares are 0 in float64 too: the reference takes the first of them, a router the next."""

    def counted(x):
        return torch.bincount(x.softmax(-1).topk(2).indices.flatten(), minlength=6)

    def by_scores(x):
        return torch.bincount(x.topk(2).indices.flatten(), minlength=6)

    def inputs(seed):
        return [30 * torch.randn(11, 6, generator=torch.Generator().manual_seed(seed))]

    given = {"like": counted, "inputs": inputs, "gradients": False, "raises": False, "only": "large values"}
    assert not opproof.check(by_scores, **given).failures
    wrong = opproof.check(lambda x: by_scores(-x), **{**given, "only": "as given"})
    assert wrong.failures
