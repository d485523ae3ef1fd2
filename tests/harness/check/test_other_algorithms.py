"""Kernels that compute the same by another algorithm pass; with a fault that each of them invites they fail."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from _deep import few

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.core.verdicts import Verdict  # noqa: E402
from opproof.harness.check.variants.fills import _repeat_extremes  # noqa: E402

F = torch.nn.functional
MASKED = -1e30
#: A word with a letter twice, blanks between its letters: which of them may be skipped.
WORD = torch.tensor([0, 1, 0, 1, 0, 2, 0])
SKIPPED = torch.tensor([0, 0, 0, 0, 0, 1, 0])


def wide(candidate, **fault):
    """In float32, rounded once."""

    def called(*tensors):
        y = candidate(*(t.float() if t.is_floating_point() else t for t in tensors), **fault)
        return y.to(tensors[0].dtype)

    return called


def alignments(x):
    logits = F.log_softmax(x, -1)
    a = torch.cat([logits[0, WORD[:2]], logits.new_full((len(WORD) - 2,), MASKED)])
    for t in range(1, len(x)):
        one, two = (torch.cat([a.new_full((k,), MASKED), a[:-k]]) for k in (1, 2))
        two = two.masked_fill(SKIPPED == 0, MASKED)
        a = torch.logsumexp(torch.stack([a, one, two]), 0) + logits[t, WORD]
    return -torch.logsumexp(a[-2:], 0)


def alignments_scaled(x, skipped=SKIPPED, ends=2):
    p = torch.softmax(x, -1)
    a = torch.cat([p[0, WORD[:2]], p.new_zeros(len(WORD) - 2)])
    total = a.sum().log()
    a = a / a.sum()
    for t in range(1, len(x)):
        a = (a + F.pad(a[:-1], (1, 0)) + F.pad(a[:-2], (2, 0)) * skipped) * p[t, WORD]
        total = total + a.sum().log()
        a = a / a.sum()
    return -(total + a[-ends:].sum().log())


def hidden(first, moves, seen):
    a, logits = F.log_softmax(first, -1) + seen[0], F.log_softmax(moves, -1)
    for row in seen[1:]:
        a = torch.logsumexp(a[:, None] + logits, 0) + row
    return torch.logsumexp(a, 0)


def hidden_scaled(first, moves, seen, cut=False):
    a, table, total = torch.softmax(first, -1), torch.softmax(moves, -1), 0.0
    for t, row in enumerate(seen):
        most = row.max().detach()
        a = (a @ table if t else a) * torch.exp(row - most)
        total = total + a.sum().log() + most
        a = a / a.sum()
        a = a.detach() if cut else a
    return total


def attended_by_groups(q, k, v):
    k, v = (t.repeat_interleave(len(q) // len(t), 0) for t in (k, v))
    scores = q @ k.mT * q.shape[-1] ** -0.5
    return torch.softmax(scores, -1) @ v


def attended_by_parts(q, k, v, heads="blocks", parts=3, rescaled=True):
    """Keys in parts, each with its logsumexp, by which they are joined."""
    places = torch.arange(len(q)) // (len(q) // len(k)) if heads == "blocks" else torch.arange(len(q)) % len(k)
    rows, sums = [], []
    for a, b in zip(k[places].chunk(parts, 1), v[places].chunk(parts, 1), strict=True):
        scores = q @ a.mT * q.shape[-1] ** -0.5
        sums.append(torch.logsumexp(scores, -1, keepdim=True))
        rows.append((scores - sums[-1]).exp() @ b)
    joined = torch.stack(sums)
    shares = (joined - joined.logsumexp(0)).exp() if rescaled else torch.full_like(joined, 1 / len(joined))
    return (torch.stack(rows) * shares).sum(0)


def mixed(a, b, x, y):
    shares = torch.softmax(torch.stack([a, b], -1), -1)
    return shares[..., :1] * x + shares[..., 1:] * y


def mixed_by_sigmoid(a, b, x, y, cut=False):
    share = torch.sigmoid(a - b)[..., None]
    return (share.detach() if cut else share) * x + (1 - share) * y


def focal(x, labels):
    p = torch.sigmoid(x)
    right = p * labels + (1 - p) * (1 - labels)
    loss = F.binary_cross_entropy_with_logits(x, labels, reduction="none")
    return ((0.25 * labels + 0.75 * (1 - labels)) * loss * (1 - right) ** 2).mean()


def focal_by_signs(x, labels, share=0.25, cut=False):
    z = torch.where(labels > 0, -x, x)
    wrong = torch.sigmoid(z)
    wrong = wrong.detach() if cut else wrong
    return (torch.where(labels > 0, share, 1 - share) * wrong * wrong * F.softplus(z)).mean()


def labelled(seed, dtype):
    generator = torch.Generator().manual_seed(seed)
    x, labels = torch.randn(6, 9, generator=generator), torch.rand(6, 9, generator=generator) > 0.5
    return [x.to(dtype), labels.to(dtype)]


def letters(seed, dtype):
    return [torch.randn(5, 3, generator=torch.Generator().manual_seed(seed)).to(dtype)]


CASES = {
    "ctc": (alignments, letters, alignments_scaled, [{"skipped": SKIPPED.roll(-2) + SKIPPED}, {"ends": 1}]),
    "hmm": (hidden, [(4,), (4, 4), (4, 4)], hidden_scaled, [{"cut": True}]),
    "split keys": (
        attended_by_groups,
        [(4, 3, 8), (2, 13, 8), (2, 13, 5)],
        attended_by_parts,
        [{"heads": "in turn"}, {"rescaled": False}],
    ),
    "two shares": (mixed, [(6, 5), (6, 5), (6, 5, 4), (6, 5, 4)], mixed_by_sigmoid, [{"cut": True}]),
    "focal loss": (focal, labelled, focal_by_signs, [{"share": 0.3}, {"cut": True}]),
}


def judged_by(name, dtype, **fault):
    reference, inputs, candidate, _ = CASES[name]
    only = "wide values" if name in ("two shares", "focal loss") else "as given"
    return opproof.check(wide(candidate, **fault), like=reference, inputs=inputs, dtype=dtype, only=only, raises=False)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dtype", few(["f32", "bf16", "f16"], 2))
def test_another_algorithm(name, dtype):
    report = judged_by(name, dtype)
    assert report.ok, report
    assert {r.verdict for r in report.results} == {"PASS"}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dtype", few(["bf16", "f32", "f16"]))
def test_another_algorithm_with_a_fault(name, dtype):
    for fault in CASES[name][-1]:
        assert judged_by(name, dtype, **fault).failures, fault


def shared(scores, values):
    return (torch.softmax(scores, -1) * values).sum(-1)


def shared_late(scores, values, empty=math.nan):
    e = (scores - scores.detach().logsumexp(-1, keepdim=True)).exp()
    return ((e * values).sum(-1) / e.sum(-1)).nan_to_num(empty)


def test_nothing_that_is_left_to_reduce():
    report = opproof.check(shared_late, like=shared, inputs=[(6, 5), (6, 5)], raises=False)
    assert report.ok, report
    assert "5 as 0: the candidate answers NaN where it is left nothing to reduce" in report.not_judged
    report = opproof.check(lambda *t: shared_late(*t, empty=1.0), like=shared, inputs=[(6, 5), (6, 5)], raises=False)
    assert {report.variants[r.case] for rs in report.failures.values() for r in rs} == {"5 as 0"}


def most_likely(x):
    shares, places = torch.softmax(x, -1).sort(-1, descending=True)
    kept = shares.masked_fill(shares.cumsum(-1) - shares > 0.8, 0.0)
    return torch.zeros_like(x).scatter(-1, places, kept / kept.sum(-1, keepdim=True))


def all_likely(x, most=0.8):
    """Of equal shares all or none."""
    shares = torch.softmax(x, -1)
    ahead = ((shares[:, None] > shares[..., None]) * shares[:, None]).sum(-1)
    kept = torch.where(ahead <= most, shares, 0.0)
    return kept / kept.sum(-1, keepdim=True)


def test_numbers_that_16_bits_make_equal_decide_too():
    given = {"like": most_likely, "inputs": [(6, 40)], "dtype": "bf16", "raises": False}
    report = opproof.check(wide(all_likely), **given, only="negative values")
    assert not report.failures, report
    assert any(text.startswith("negative values: which of equal elements") for text in report.not_judged), report
    assert opproof.check(lambda x: 1.1 * wide(all_likely)(x), **given, only="as given").failures


def test_equal_elements_that_decide():
    report = opproof.check(all_likely, like=most_likely, inputs=[(6, 9)], dtype="f32", raises=False)
    assert report.ok, report
    assert any(text.startswith("ties: which of equal elements") for text in report.not_judged)
    wrong = opproof.check(
        lambda x: all_likely(x, 0.85), like=most_likely, inputs=[(6, 9)], only="as given", raises=False
    )
    assert wrong.failures


def nth(x, u):
    """The first place at which shares add up to u."""
    shares = x.exp() / x.exp().sum(-1, keepdim=True)
    return (shares.cumsum(-1) < u).sum(-1), shares


def nth_by_weights(x, u, off=0):
    e = x.exp()
    return (e.cumsum(-1) < u * e.sum(-1, keepdim=True)).sum(-1) + off, e / e.sum(-1, keepdim=True)


def test_a_threshold_that_a_sum_of_equals_meets():
    given = {"like": nth, "inputs": _draws, "dtype": "f32", "raises": False}
    report = opproof.check(nth_by_weights, **given)
    assert report.ok, report
    assert opproof.check(lambda x, u: nth_by_weights(x, u, 1), **given).failures.keys() == {"WRONG_VALUE"}


def _draws(seed, dtype):
    """Weights of which a row is 1 and the thresholds quarters, as ties make them."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(8, 12, generator=generator)
    return [x.to(dtype), (torch.randint(1, 4, (8, 1), generator=generator) / 4).to(dtype)]


def test_which_of_equal_numbers_is_taken():
    """The largest of each row is there twice, whatever halves make of the others."""

    def first(x):
        y = x / 1.2
        return y.argmax(-1), y

    def last(x):
        y = x / 1.2
        return y.shape[-1] - 1 - y.flip(-1).argmax(-1), y

    options = {"like": first, "only": "ties", "gradients": False, "raises": False}
    for seed in range(3):
        inputs = [torch.randn(1, 11, generator=torch.Generator().manual_seed(seed))]
        assert opproof.check(first, inputs=inputs, **options).ok
        assert opproof.check(last, inputs=inputs, **options).failures.keys() == {"WRONG_VALUE"}


def test_extremes_twice_in_a_row():
    rows = [[-2.0, -1, 0.5, 1, 3, 2], [-3.0, -1, 0, 0, 1, 2], [0.0, 0, 4, 0, 0, 0], [1.0, 1, 1, 1, 1, 1]]
    assert _repeat_extremes(np.array(rows)).tolist() == [
        [-2, 3, 0.5, -2, 3, 2], [-3, -3, 0, 0, 2, 2], [0, 0, 4, 0, 0, 0], [1, 1, 1, 1, 1, 1],
    ]  # fmt: skip
    for kept in ([[1.0, 2, 3]], [[5.0, 2, 3, 4], [6, 3, 4, 4], [7, 3, 5, 5]], [[1.0, math.inf, 1, 1]]):
        assert _repeat_extremes(np.array(kept)).tolist() == kept


def test_labels_keep_their_values_and_say_so():
    report = opproof.check(wide(focal_by_signs), like=focal, inputs=labelled, dtype="f32", seconds=2)
    assert report.ok
    assert any(text.startswith("the gradient of labels") for text in report.not_judged)

    def leaf(seed, dtype):
        x, labels = labelled(seed, dtype)
        return [x, labels.requires_grad_()]

    report = opproof.check(wide(focal_by_signs), like=focal, inputs=leaf, dtype="f32", only="as given", raises=False)
    assert report.failures.keys() == {"WRONG_GRADIENT"}


def attended(scores, mask, values):
    return torch.softmax(scores + mask, -1) @ values


def skipping(scores, mask, values):
    scores = torch.where(mask < 0, MASKED, scores)
    shares = (scores - scores.amax(-1, keepdim=True).detach()).exp()
    return shares @ values / shares.sum(-1, keepdim=True)


def masked(seed, dtype):
    generator = torch.Generator().manual_seed(seed)
    scores, values = torch.randn(6, 6, generator=generator), torch.randn(6, 4, generator=generator)
    return [scores.to(dtype), torch.full((6, 6), -math.inf).triu(1).to(dtype), values.to(dtype)]


def test_a_mask_that_is_added_stays_a_mask():
    report = opproof.check(skipping, like=attended, inputs=masked, dtype="f32", raises=False)
    assert report.ok, report
    assert "values of both signs" in report.tried
    wrong = opproof.check(
        lambda s, m, v: skipping(s, m.roll(1, 1), v), like=attended, inputs=masked, only="as given", raises=False
    )
    assert wrong.failures


def test_a_gradient_by_what_is_saved_in_16_bits_is_proved_by_one_that_saves_nothing():
    def judged(candidate):
        return opproof.check(
            candidate, like=lambda x: x.logsumexp(-1), inputs=[(8, 12)], dtype="bf16", only="large values", raises=False
        )

    def plain(x):
        most = x.float().amax(-1, keepdim=True).detach()
        return (((x.float() - most).exp().sum(-1)).log() + most[:, 0]).to(x.dtype)

    def constant(x):
        return plain(x).detach() + 0 * x.sum(-1)

    report = judged(plain)
    assert [r.verdict for r in report.results] == ["PASS", "PASS"], report
    report = judged(constant)
    assert not report.ok
    assert "was not proved to be" in report.sentence


def test_a_gradient_that_proves_nothing_is_no_success():
    report = opproof.check(torch.tanh, like=torch.tanh, inputs=[(6, 5)], dtype="f32", only="as given")
    assert report.ok
    for why, ok in (("zeros", False), ("1.02 times it", False), ("a copy of an input", True)):
        doubted = {"verdict": Verdict.VACUOUS, "message": f"{why} would pass as the gradient of x too"}
        results = [replace(r, **doubted) if r.mode == "gradient" else r for r in report.results]
        found = replace(report, results=tuple(results))
        assert found.ok is ok
        assert ok or f"(gradient: VACUOUS: {why}" in found.sentence


def routed(x, w):
    return (x @ w.T).softmax(-1).topk(2, -1)


def test_a_router_that_chooses_by_its_logits_is_right_where_shares_are_all_zero():
    def by_logits(x, w, least=False):
        z = x @ w.T
        z = z - z.amax(-1, keepdim=True)
        places = z.topk(3, -1)[1][:, [0, 1 + least]]
        return z.softmax(-1).gather(-1, places), places

    def judged(candidate, **options):
        return opproof.check(candidate, like=routed, inputs=[(12, 8), (5, 8)], dtype="f32", raises=False, **options)

    for seed in range(3):
        report = judged(by_logits, only="large values", seed=seed)
        assert report.ok or not report.failures, report
    wrong = judged(lambda x, w: by_logits(x, w, least=True), only="as given")
    assert set(wrong.failures) == {"WRONG_VALUE", "WRONG_GRADIENT"}, wrong
