"""What reads past its tensors in PyTorch raises before it does; the same at sizes that fit gives what it gave."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from opproof.harness.reference.torch.random_draws import with_recorded_draws  # noqa: E402

F = torch.nn.functional
ZEROS = torch.zeros


def lstm(x, h=(1, 4, 6), wide=5, biases=True):
    weights = [ZEROS(24, wide), ZEROS(24, 6), *([ZEROS(24), ZEROS(24)] if biases else [])]
    return torch.lstm(ZEROS(x), (ZEROS(h), ZEROS(h)), weights, biases, 1, 0.0, False, False, False)


def pieces(n, **how):
    return torch.segment_reduce(ZEROS(n, 4), "sum", **{k: torch.tensor(v) for k, v in how.items()}, unsafe=True)


def bags(n):
    return F.embedding_bag(torch.tensor([1, 2, 0]), ZEROS(4, 5, requires_grad=True), torch.arange(n))


@pytest.mark.parametrize(
    ("call", "past", "fits", "said"),
    [
        (lambda k, v: F.scaled_dot_product_attention(ZEROS(2, 3, 6, 8), ZEROS(2, 3, k, 8), ZEROS(2, 3, v, 8)),
         (4, 6), (4, 4), "4 keys have 6 values"),
        (lstm, ((7, 9, 5),), ((7, 4, 5),), r"states of shape \(4, 6\), expected \(9, 6\)"),
        (lstm, ((7, 4, 8),), ((7, 4, 5),), r"weights or states of shape \(24, 5\), expected \(24, 8\)"),
        (lambda x: lstm(x, biases=False), ((7, 4, 8),), ((7, 4, 5),), r"weights or states of shape"),
        (lambda n: pieces(n, offsets=[0, 4, 9]), (8,), (9,), "pieces end at 9 of 8"),
        (lambda n: pieces(n, lengths=[4, 5]), (8,), (9,), "pieces end at 9 of 8"),
        (bags, (0,), (2,), "there are no offsets"),
        (lambda n: torch._weight_norm(torch.ones(5, 6), torch.ones(n, 1), 0), (4,), (5,), "4 lengths of 5 vectors"),
    ],
)  # fmt: skip
def test_what_reads_past_its_tensors_raises(call, past, fits, said):
    with with_recorded_draws([]), pytest.raises(IndexError, match=said):
        call(*past)
    with with_recorded_draws([]):
        call(*fits)
