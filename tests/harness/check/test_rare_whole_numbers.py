"""Integers that say which, and sizes at numbers that a reference names: what few draws have."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.core.errors import UsageError  # noqa: E402
from opproof.harness.check.tensors import take_tensor  # noqa: E402
from opproof.harness.check.variants.integer_inputs import _keep_once, generate_missing_labels, round_to_blocks  # noqa: E402


def variants(*draws):
    """By name the integers that are tried; of several draws, of numbers beside four rows of floats."""
    draws = [[np.asarray(v) for v in d] for d in draws]
    pairs = [
        tuple((take_tensor("x", np.zeros((16, 4))), *(take_tensor(f"i{k}", v) for k, v in enumerate(d))) for d in draws)
    ]
    return {v.name: [t.values for t in v.case_data[1:]] for v in generate_missing_labels(pairs)}


def wrong_at(candidate, like, inputs, only=None):
    report = opproof.check(candidate, like=like, inputs=inputs, raises=False, seconds=1e9, only=only)
    return {report.variants[r.case] for rs in report.failures.values() for r in rs}


def test_a_number_that_none_has_and_all_alike():
    a, b = np.array([0, 3, 1, 2, 2, -100]), np.array([2, 3, 1, 0, 0, 1])
    made = variants((a,), (b,))
    assert {name: v.tolist() for name, (v,) in made.items()} == {
        "i0 without one of its numbers": [0, 3, 1, 1, 1, -100],
        "i0 all alike": [3, 3, 3, 3, 3, -100],
    }


def test_rows_that_have_each_number_once_keep_that():
    rows = np.array([[0, 3], [1, 2], [2, 0], [3, 1]])
    made = variants((rows,), (rows[::-1],))
    assert [v.tolist() for (v,) in made.values()] == [[[0, 3], [1, 0], [1, 0], [3, 1]], [[0, 3]] * 4]


def test_ascending_numbers_stay_so():
    segments = np.array([0, 0, 1, 2, 2, 3])
    made = variants((segments,), (np.sort(segments[::-1] // 2 + 1),))
    assert all((np.diff(v) >= 0).all() for (v,) in made.values())


def test_a_piece_of_nothing():
    made = variants((np.array([0, 5, 9, 16]),), (np.array([0, 2, 9, 16]),))
    assert {name: v.tolist() for name, (v,) in made.items()} == {
        "an empty piece in i0": [0, 5, 5, 16],
        "one long piece in i0": [0, 1, 2, 16],
    }


def test_pieces_by_their_ends():
    """The last of them is the longest axis there is, of 16 rows."""
    made = variants((np.array([2, 5, 9, 10, 11, 12, 16]),), (np.array([1, 1, 2, 2, 3, 9, 16]),))
    assert {name: v.tolist() for name, (v,) in made.items()} == {
        "an empty piece in i0": [2, 5, 9, 9, 11, 12, 16],
        "several empty pieces in i0": [2, 5, 5, 5, 5, 12, 16],
        "one long piece in i0": [1, 2, 3, 4, 5, 6, 16],
    }


@pytest.mark.parametrize(
    "draws",
    [
        ([[0, 1, 2, 3, 4]], [[4, 1, 3, 2, 0]]),  # a permutation
        ([[0, 1, 2, 1]], [[0, 1, 2, 1]]),  # a table, the same in every draw
        ([[0, 1, 2, 1], [1, 2]], [[2, 1, 0, 1], [2, 1]]),  # two, of which one may count the other
        ([[0, 5, 9, 16], [5, 4, 7]], [[0, 2, 9, 16], [2, 7, 7]]),  # pieces, and their lengths
        ([[0, 1, 1, 0]], [[1, 1, 1, 0]]),  # two numbers
    ],
)
def test_what_others_could_mean_something_else(draws):
    assert not variants(*([np.array(v) for v in draw] for draw in draws))


def test_pieces_beside_what_lies_in_them():
    made = variants(([0, 4, 9, 11], [3, 1, 2, 0, 1, 1, 0, 2]), ([0, 1, 9, 13], [1] * 8))
    assert {name: pieces.tolist() for name, (pieces, _) in made.items()} == {
        "an empty piece in i0": [0, 4, 4, 11],
        "one long piece in i0": [0, 1, 2, 11],
    }


def ignoring(x, y):
    return torch.nn.functional.cross_entropy(x, y, ignore_index=-100)


def of_all(x, y):
    """Right where none is left out: their mean is over all."""
    kept = (y != -100) * 1.0
    return -((x.log_softmax(-1) * (torch.arange(x.shape[-1]) == y[:, None])).sum(-1) * kept).mean()


def test_what_is_left_out():
    def inputs(seed):
        generator = torch.Generator().manual_seed(seed)
        return [torch.randn(30, 7, generator=generator), torch.randint(0, 7, (30,), generator=generator)]

    assert wrong_at(of_all, ignoring, inputs, only="-100 in some of y")
    assert not wrong_at(of_all, ignoring, inputs, only="y all alike")
    assert not wrong_at(ignoring, ignoring, inputs, only="-100 in some of y")


def by_token(x, expert, w):
    return torch.einsum("ti,tio->to", x, w[expert])


def by_expert(x, expert, w):
    """Of tokens in the order of their experts; it ends at the first that has none."""
    made = torch.zeros(x.shape[0], w.shape[2])
    order, counts, start = expert.argsort(stable=True), torch.bincount(expert, minlength=len(w)), 0
    for e, n in enumerate(counts.tolist()):
        if n == 0:
            break
        some, start = order[start : start + n], start + n
        made = made.index_put((some,), x[some] @ w[e])
    return made


def tokens(seed):
    generator = torch.Generator().manual_seed(seed)
    given = torch.randn(40, 6, generator=generator), torch.randint(0, 4, (40,), generator=generator)
    return [*given, torch.randn(4, 6, 5, generator=generator)]


def test_an_expert_without_a_token():
    assert not wrong_at(by_token, by_token, tokens, only="expert without one of its numbers")
    assert wrong_at(by_expert, by_token, tokens, only="expert without one of its numbers")
    assert not wrong_at(by_expert, by_token, tokens, only="as given")


def windowed(x, window=16):
    ones = torch.ones(x.shape[-1], x.shape[-1])
    return x @ (ones.tril() - ones.tril(-window))


def until_it_slides(x, window=16):
    """Off by one where a window is one shorter than a row."""
    return windowed(x, window) if x.shape[-1] > window + 1 else x.flip(-1).cumsum(-1).flip(-1)


def test_a_row_that_is_one_longer_than_the_window():
    def inputs(seed):
        return [torch.randn(3, 64, generator=torch.Generator().manual_seed(seed))]

    assert not wrong_at(windowed, windowed, inputs)
    assert wrong_at(until_it_slides, windowed, inputs) == {"64 as 17"}


def attended(q, k):
    return (q @ k.mT).softmax(-1) @ k


def of_as_many(q, k):
    return attended(q, k[:, : q.shape[1]])


def test_a_size_of_one_tensor_alone_is_told_and_is_no_failure():
    """Nobody says whether there are always as many queries as keys; and in this process memory may be read past."""

    def inputs(seed):
        generator = torch.Generator().manual_seed(seed)
        return [torch.randn(2, 24, 16, generator=generator) for _ in "qk"]

    def check(candidate, **how):
        how = {"gradients": False, "raises": False, "seconds": 1e9, **how}
        return opproof.check(candidate, like=attended, inputs=inputs, **how)

    report = check(of_as_many, isolate=True, only="24 of q as 13")
    assert not report.failures
    said = "24 of q as 13: the candidate gives something else there: it is made for tensors of one size, or wrong"
    assert said in report.not_judged
    for name in ("24 of q as 25", "24 of q as 13"):
        right = check(attended, isolate=True, only=name)
        assert right.tried == (name,)
        assert not right.not_judged
    with pytest.raises(UsageError, match="is no variant"):
        check(attended, only="24 of q as 13")


def words(seed):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(300, 8, generator=generator), torch.randint(1, 300, (2, 6), generator=generator)]


def embedded(w, i):
    return torch.nn.functional.embedding(i, w, padding_idx=0)


def test_a_word_that_is_padding_and_that_few_draws_have():
    assert wrong_at(lambda w, i: w[i], embedded, words, only="0 among i")
    assert not wrong_at(lambda w, i: w[i], embedded, words, only="as given")
    assert not wrong_at(embedded, embedded, words, only="0 among i")


def test_a_number_that_many_draws_miss_is_not_tried():
    """Labels of three classes from 1 on have no blank, and that is no chance."""

    def few(seed):
        generator = torch.Generator().manual_seed(seed)
        return [torch.randn(4, 8, generator=generator), torch.randint(1, 4, (2, 6), generator=generator)]

    report = opproof.check(embedded, like=embedded, inputs=few, raises=False, seconds=1e9)
    assert "0 among i" not in report.tried


def last_of_each(x, lengths):
    """Of a length of 0 the last number of all, as indices from the end have it."""
    return x[torch.arange(len(x)), lengths - 1] * (lengths > 0)


def test_lengths_of_which_none_is_0_are_not_asked_for_it_as_words_are():
    def few(seed):
        generator = torch.Generator().manual_seed(seed)
        lengths = torch.randint(1, 22, (4,), generator=generator)
        lengths[seed % 4] = 21
        return [torch.randn(4, 21, generator=generator), lengths]

    report = opproof.check(last_of_each, like=last_of_each, inputs=few, raises=False, seconds=1e9)
    assert report.ok
    assert "0 among lengths" not in report.tried


NOWHERE = -1


def stored(cache, rows, slots):
    kept = slots != NOWHERE
    return cache.index_put((slots[kept],), rows[kept])


def slotted(seed):
    rng = torch.Generator().manual_seed(seed)
    return [torch.randn(24, 4, generator=rng), torch.randn(6, 4, generator=rng), torch.randperm(24, generator=rng)[:6]]


def test_a_mark_that_the_reference_asks_for_is_tried():
    wrong = lambda cache, rows, slots: cache.index_put((slots,), rows)  # noqa: E731
    report = opproof.check(wrong, like=stored, inputs=slotted, seconds=5, raises=False)
    assert {report.variants[r.case] for rs in report.failures.values() for r in rs} == {"-1 in some of slots"}
    assert opproof.check(stored, like=stored, inputs=slotted, seconds=5).ok


def test_a_piece_of_nothing_where_draws_are_of_several_lengths():
    def most(x, offsets):
        pieces = zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
        return torch.stack([x[a:b].amax(0) if b > a else x.new_zeros(x.shape[1]) for a, b in pieces])

    def wrong(x, offsets):
        pieces = zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
        return torch.stack([x[a : max(b, a + 1)].amax(0) for a, b in pieces])

    def ragged(seed):
        rng = torch.Generator().manual_seed(seed)
        offsets = torch.cat([torch.zeros(1, dtype=torch.long), torch.randint(1, 9, (5,), generator=rng).cumsum(0)])
        return [torch.randn(int(offsets[-1]), 4, generator=rng), offsets]

    report = opproof.check(wrong, like=most, inputs=ragged, seconds=10, raises=False)
    assert {report.variants[r.case] for rs in report.failures.values() for r in rs} == {"an empty piece in offsets"}


def test_a_label_past_all_that_are_drawn():
    def loss(logits, target):
        kept = target != 255
        nll = -logits.log_softmax(-1).gather(-1, torch.where(kept, target, 0)[:, None])[:, 0]
        return (nll * kept).sum() / kept.sum().clamp(min=1)

    def of_all(logits, target):
        kept = target < logits.shape[-1]
        nll = -logits.log_softmax(-1).gather(-1, target.clamp(max=logits.shape[-1] - 1)[:, None])[:, 0]
        return (nll * kept).mean()

    def labelled(seed):
        rng = torch.Generator().manual_seed(seed)
        return [torch.randn(16, 5, generator=rng), torch.randint(0, 5, (16,), generator=rng)]

    assert wrong_at(of_all, loss, labelled) == {"255 in some of target"}


def paged(lengths):
    def like(x, lengths):
        inside = torch.arange(x.shape[-1]) < lengths[:, None]
        return (x * inside).sum(-1)

    def inputs(seed, dtype):
        generator = torch.Generator().manual_seed(seed)
        return [torch.randn(4, 300, generator=generator).to(dtype), torch.randint(*lengths, (4,), generator=generator)]

    return like, inputs


def test_a_length_that_is_a_whole_number_of_blocks():
    like, inputs = paged((1, 290))

    def kernel(x, lengths):
        return like(x, torch.where(lengths % 128 == 0, lengths - 128, lengths))

    assert wrong_at(kernel, like, inputs) == {"256 among lengths"}
    assert wrong_at(kernel, like, inputs, only="256 among lengths") == {"256 among lengths"}
    assert not wrong_at(like, like, inputs)


@pytest.mark.parametrize(
    ("drawn", "others"),
    [
        ([[3, 80, 200], [9, 70, 210]], []),  # in order
        ([[3, 200, 87], [200, 3, 87]], []),  # of one sum
        ([[3, 200, 87], [3, 200, 87]], []),  # the same in every draw
        ([[3, 200, -1], [8, 90, -1]], []),  # with a mark
        ([[3, 200, 87], [9, 70, 210]], [[0, 3, 203]]),  # made of one another, perhaps
        ([[3, 200, 87], [9, 70, 210]], [[[0, 1], [2, -1], [3, 4]]]),  # pages, with marks of where they end
    ],
)
def test_numbers_that_are_not_free_stay(drawn, others):
    def some(values):
        return take_tensor("x", np.zeros((3, 4))), *(
            take_tensor(f"i{k}", np.asarray(v)) for k, v in enumerate((values, *others))
        )

    assert not [v.name for v in round_to_blocks([tuple(map(some, drawn))])]
    assert [v.name for v in round_to_blocks([tuple(map(some, ([3, 200, 87], [9, 70, 210])))])] == (
        [] if others else ["128 among i0", "64 among i0"]
    )


def test_a_number_that_says_what_is_left_out_may_be_0():
    def like(x, target, ignore_index=-100):
        return torch.nn.functional.cross_entropy(x, target, ignore_index=ignore_index, reduction="none")

    def inputs(seed, dtype):
        generator = torch.Generator().manual_seed(seed)
        target = torch.randint(0, 5, (9,), generator=generator)
        return [torch.randn(9, 5, generator=generator).to(dtype), target.masked_fill(target == 3, -100), -100]

    def kernel(x, target, ignore_index=-100):
        return like(x, target, ignore_index or -100)

    assert wrong_at(kernel, like, inputs) == {"ignore_index as 0"}
    assert not wrong_at(like, like, inputs)


def absorbed(q, rope, latent, keys, w):
    """Scores of a latent attention, whose scale is of a head's length."""
    both = torch.cat([torch.einsum("hd,hdr->hr", q, w), rope], -1)
    return both @ torch.cat([latent, keys], -1).mT * (q.shape[-1] + rope.shape[-1]) ** -0.5


def of_one_rank(q, rope, latent, keys, w):
    both = torch.cat([torch.einsum("hd,hdr->hr", q, w), rope], -1)
    return both @ torch.cat([latent, keys], -1).mT * both.shape[-1] ** -0.5


def test_a_size_that_several_tensors_share_is_told_where_two_of_them_have_another():
    def inputs(seed):
        generator = torch.Generator().manual_seed(seed)
        shapes = [(4, 16), (4, 6), (21, 16), (21, 6), (4, 16, 16)]
        return [torch.randn(shape, generator=generator) for shape in shapes]

    name = "axis 1 of q and axis 1 of w as 17"
    how = {"like": absorbed, "inputs": inputs, "gradients": False, "raises": False, "seconds": 1e9, "only": name}
    report = opproof.check(of_one_rank, isolate=True, **how)
    assert not report.failures
    said = f"{name}: the candidate gives something else there: it is made for tensors of one size, or wrong"
    assert report.not_judged == (said,)
    right = opproof.check(absorbed, isolate=True, **how)
    assert (right.tried, right.not_judged) == ((name,), ())


def sunk(x, sinks, window):
    i, j = torch.arange(x.shape[0])[:, None], torch.arange(x.shape[0])
    return ((j <= i) & ((j > i - window) | (j < sinks))).to(x) @ x


def of_few_sinks(x, sinks, window):
    i, j = torch.arange(x.shape[0])[:, None], torch.arange(x.shape[0])
    band = (j <= i) & (j > i - window)
    return (band | ((j < sinks) & (i >= sinks))).to(x) @ x  # rows before `sinks` see them in the band


def test_numbers_in_another_order_than_all_draws_have_are_told():
    def inputs(seed):
        x = torch.randn(26, 4, generator=torch.Generator().manual_seed(seed))
        return [x, *[(4, 8), (2, 8), (4, 12)][seed % 3]]

    name = "sinks and window exchanged"
    how = {"like": sunk, "inputs": inputs, "gradients": False, "raises": False, "seconds": 1e9, "only": name}
    report = opproof.check(of_few_sinks, isolate=True, **how)
    assert not report.failures
    assert [said.partition(": ")[2] for said in report.not_judged] == [
        "the candidate gives something else there: it is made for numbers in the order that all draws have, or wrong"
    ]
    assert not opproof.check(sunk, isolate=True, **how).not_judged


def test_one_of_its_numbers_once():
    made = variants((np.array([0, 2, 1, 2, 1, 0, 0]),), (np.array([2, 2, 1, 0, 1, 0, 1]),))
    (labels,) = made["one of its numbers once in i0"]
    assert labels.tolist() == [0, 2, 1, 2, 2, 0, 0]
    assert _keep_once(np.array([0, 0, 0, 1, 1, 1, 2, 2])).tolist() == [0, 0, 0, 1, 1, 1, 1, 2]  # in order as before
    assert _keep_once(np.array([0, 0, 1, 2, 2])) is None
    assert _keep_once(np.array([[0, 3], [1, 2], [2, 0], [3, 1]])) is None


def of_classes(x, labels, own):
    """The mean distance of each from the others of its class, over those that have others."""
    same = (labels[:, None] == labels) & ~torch.eye(len(x), dtype=torch.bool)
    far = (x[:, None] - x).abs().sum(-1)
    each = (far * same).sum(-1) / same.sum(-1).clamp(min=1)
    return each.sum() / (own(same).sum().clamp(min=1))


def test_a_class_of_one_is_tried():
    def like(x, labels):
        return of_classes(x, labels, lambda same: same.any(-1))

    def by_all(x, labels):
        return of_classes(x, labels, lambda same: torch.ones(len(same)))

    def drawn(seed):
        g = torch.Generator().manual_seed(seed)
        return [torch.randn(28, 5, generator=g), torch.randint(0, 3, (28,), generator=g)]

    assert not wrong_at(like, like, drawn, only="one of its numbers once in labels")
    assert wrong_at(by_all, like, drawn, only="one of its numbers once in labels")
