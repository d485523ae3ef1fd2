"""Rows that a mask hides in full, lengths of 0, zeros of positive numbers: what comes of nothing."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.harness.check.tensors import take_tensor  # noqa: E402
from opproof.harness.check.variants.empty_groups import generate_empty_groups  # noqa: E402
from opproof.harness.check.variants.variant import Excused  # noqa: E402

F = torch.nn.functional
SAID = "the candidate gives other numbers than the reference there, which may be a convention of its own"


def random(seed):
    return torch.Generator().manual_seed(seed)


def judged(candidate, like, inputs, only, **options):
    return opproof.check(candidate, like=like, inputs=inputs, raises=False, seconds=1e9, only=only, **options)


def names(*draws):
    """Of what is tried of one tensor, drawn so often."""
    some = [(take_tensor("x", torch.zeros(16, 4)), take_tensor("m", torch.as_tensor(d))) for d in draws]
    return [v.name for v in generate_empty_groups([(some[0], some[1])], [(), ()])]


ROWS, OTHER_ROWS = [[True, False, True]] * 4, [[False, True, True], *[[True, False, False]] * 3]
EVEN = torch.arange(20).reshape(4, 5) / 20
ONE_EACH = torch.eye(3, dtype=torch.bool)


@pytest.mark.parametrize(
    ("draws", "tried"),
    [
        ((ROWS, OTHER_ROWS), ["a row of m all 0", "a row of m all 1"]),
        ((ROWS, ROWS), []),  # a table
        ((ONE_EACH, ONE_EACH.flip(0)), []),  # labels
        ((ROWS, [*OTHER_ROWS[:3], [True] * 3]), ["a row of m all 0"]),  # draws have the other
        (([1, 5, 3, 9], [2, 4, 7, 1]), ["0 in m"]),
        (([1, 5, 3, 9], [0, 4, 7, 1]), []),  # draws have it
        (([1, 5, 3, 90], [2, 4, 7, 1]), []),  # no lengths: no axis is so long
        (([1, 5], [2, 4]), []),  # too few to be no chance
        ((EVEN + 0.01, EVEN + 0.1), ["zeros in m"]),
        ((EVEN + 0.5, EVEN + 0.6), []),  # never near 0
        ((EVEN - 0.1, EVEN - 0.5), []),
        ((torch.ones(4, 5), torch.ones(4, 5)), []),
    ],
)
def test_what_is_tried(draws, tried):
    assert names(*draws) == tried


def test_members_of_groups_stay_as_many():
    def drawn(*values):
        return take_tensor("x", torch.zeros(16, 4)), take_tensor("n", torch.tensor(values))

    (one,) = generate_empty_groups([(drawn(3, 5, 1, 7), drawn(4, 4, 2, 6))], [(), ()])
    assert one.case_data[1].values.tolist() == [3, 5, 0, 8]
    assert one.excused is Excused.NOTHING


def attention(seed):
    q, k, v = (torch.randn(2, 12, 8, generator=random(seed + 99 * i)) for i in range(3))
    return [q, k, v, torch.rand(2, 12, 12, generator=random(seed)) > 0.4]


def attention_to_the_first(seed):
    *some, mask = attention(seed)
    mask[..., 0] = True
    return [*some, mask]


def attention_to_oneself(seed):
    *some, mask = attention(seed)
    return [*some, mask | torch.eye(12, dtype=torch.bool)]


def guarded(q, k, v, mask):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def scores(q, k, mask, least):
    return (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~mask, least)


def unguarded(q, k, v, mask):
    return scores(q, k, mask, -math.inf).softmax(-1) @ v


def by_a_low_score(q, k, v, mask):
    return scores(q, k, mask, -1e9).softmax(-1) @ v


def test_no_number_for_a_row_that_is_masked_in_full():
    report = judged(unguarded, guarded, attention, "a row of mask all 0")
    assert {r.verdict for rs in report.failures.values() for r in rs} == {"WRONG_VALUE", "WRONG_GRADIENT"}
    assert judged(guarded, guarded, attention, "a row of mask all 0").ok
    assert judged(unguarded, guarded, attention, "as given").ok


@pytest.mark.parametrize("inputs", [attention_to_the_first, attention_to_oneself])
def test_what_every_draw_rules_out_is_told(inputs):
    report = judged(unguarded, guarded, inputs, None)
    assert report.ok
    said = "the candidate gives no number there, and the reference does; no draw has it, and none could"
    assert f"a row of mask all 0: {said}" in report.not_judged


def test_other_numbers_there_are_told_and_are_no_failure():
    report = judged(by_a_low_score, guarded, attention, None)
    assert report.ok
    assert f"a row of mask all 0: {SAID}" in report.not_judged
    assert report.sentence.endswith("; not at a row of mask all 0: see what is not judged")


def test_where_the_reference_has_no_number_nothing_is_told():
    report = judged(guarded, unguarded, attention, None)
    assert report.ok
    assert all(text.endswith("nothing follows from what comes there") for text in report.not_judged)


def lengths(seed):
    return [torch.randn(6, 16, 8, generator=random(seed)), torch.randint(1, 17, (6,), generator=random(seed))]


def means(x, n, least=1):
    kept = torch.arange(x.shape[1]) < n[:, None]
    return (x * kept[..., None]).sum(1) / n[:, None].clamp(min=least)


def test_a_sequence_without_a_token_is_told_as_lengths_are_drawn_from_1():
    assert not any(SAID in text for text in judged(means, means, lengths, None).not_judged)
    report = judged(lambda x, n: means(x, n, 0), means, lengths, None)
    assert report.ok
    assert any(text.startswith("0 in n: the candidate gives no number there") for text in report.not_judged)


def groups(seed):
    counts = 1 + torch.bincount(torch.randint(0, 4, (12,), generator=random(seed)), minlength=4)
    return [torch.randn(16, 8, generator=random(seed)), torch.randn(4, 8, 6, generator=random(seed + 50)), counts]


def grouped(x, w, n):
    return torch.cat([some @ w[i] for i, some in enumerate(x.split(n.tolist()))])


def grouped_one_at_least(x, w, n):
    which = torch.repeat_interleave(torch.arange(len(n)), n.clamp(min=1))[: len(x)]
    return torch.einsum("nk,nkj->nj", x, w[which])


def test_a_group_without_a_member_is_no_convention():
    assert judged(grouped, grouped, groups, "0 in n").ok
    assert judged(grouped_one_at_least, grouped, groups, "as given").ok
    assert not judged(grouped_one_at_least, grouped, groups, "0 in n").ok


def shares(seed):
    return [torch.rand(8, 12, generator=random(seed)) + 1e-3]


def test_zeros_where_all_draws_are_positive():
    def entropy(p):
        return -torch.special.xlogy(p, p).sum(-1)

    assert judged(entropy, entropy, shares, "zeros in p", gradients=False).ok
    assert not judged(lambda p: -(p * p.log()).sum(-1), entropy, shares, "zeros in p", gradients=False).ok


def test_no_number_is_a_failure_where_the_gradient_of_the_reference_is_none_either():
    """The derivative of a root at 0 is infinite, and the value is a number all the same."""

    def inputs(seed):
        return [torch.randn(6, 12, generator=random(seed)), torch.rand(6, 12, generator=random(seed + 50)) * 1e-4]

    def step(m, v):
        return m / (v.sqrt() + 1e-15)

    assert judged(step, step, inputs, "zeros in v").ok
    assert not judged(lambda m, v: m / v.sqrt(), step, inputs, "zeros in v").ok


@pytest.mark.parametrize(("first", "told"), [(True, False), (False, True)])
def test_a_first_half_that_a_mask_hides(first, told):
    """A softmax in tiles has no number where its first tile is hidden; told where no draw hides the first place."""

    def like(x, mask):
        return torch.softmax(x.masked_fill(~mask, -torch.inf), -1)

    def in_tiles(x, mask):
        x = x.masked_fill(~mask, -torch.inf)
        half = x.shape[-1] // 2
        most = x[:, :half].amax(-1, keepdim=True)
        later = torch.maximum(most, x[:, half:].amax(-1, keepdim=True))
        sums = (x[:, :half] - most).exp().sum(-1, keepdim=True) * (most - later).exp()
        return (x - later).exp() / (sums + (x[:, half:] - later).exp().sum(-1, keepdim=True))

    def inputs(seed):
        g = torch.Generator().manual_seed(seed)
        mask = torch.rand(6, 24, generator=g) > 0.4
        rows = torch.arange(6)
        mask[rows, torch.randint(12, (6,), generator=g)] = True  # some place of each half, in every draw
        mask[rows, torch.randint(12, 24, (6,), generator=g)] = True
        mask[:, 0] |= not first
        return [torch.randn(6, 24, generator=g), mask]

    report = opproof.check(in_tiles, like=like, inputs=inputs, seconds=10, gradients=False, raises=False)
    assert report.ok is told
    assert "the first half of rows of mask all 0" in str(report)
    assert opproof.check(like, like=like, inputs=inputs, seconds=2, gradients=False).ok


def pieces(seed):
    """Lengths of pieces of an axis, which is as long as they are together."""
    counts = torch.randint(1, 6, (7,), generator=random(seed))
    return [torch.randn(int(counts.sum()), 8, generator=random(seed)), counts]


def sums_of_pieces(x, n):
    """By slices, which a reference takes past the end too."""
    ends = n.cumsum(0).tolist()
    return torch.stack([x[end - k : end].sum(0) for end, k in zip(ends, n.tolist(), strict=True)])


def sums_of_all(x, n):
    """It takes no lengths that do not add up."""
    which = torch.repeat_interleave(torch.arange(len(n)), n)
    return torch.zeros(len(n), x.shape[1], dtype=x.dtype).index_add(0, which, x[torch.arange(len(which))])


def sums_from_starts(x, n):
    """As by NumPy's add.reduceat: of no numbers the next one."""
    made = sums_of_all(x, n)
    starts = (n.cumsum(0) - n).clamp(max=len(x) - 1)
    return torch.where((n == 0)[:, None], x[starts], made)


def test_lengths_of_pieces_add_up_where_one_is_0():
    assert not judged(sums_of_all, sums_of_pieces, pieces, None).failures
    assert judged(sums_of_all, sums_of_pieces, pieces, "0 in n").tried == ("0 in n",)
    assert judged(sums_from_starts, sums_of_pieces, pieces, "as given").ok
    assert not judged(sums_from_starts, sums_of_pieces, pieces, "0 in n").ok
