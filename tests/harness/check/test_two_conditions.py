"""What errs where two conditions meet: a tile full of one number, few rows far from 0, a piece at a tile's edge."""

from __future__ import annotations

from functools import partial

import pytest
from _runs import completed

torch = pytest.importorskip("torch")

import opproof  # noqa: E402

judged = partial(opproof.check, raises=False, seconds=60)


def generator(seed):
    return torch.Generator().manual_seed(seed)


def wrong_at(report):
    return {report.variants[r.case] for rs in report.failures.values() for r in rs}


def test_a_tile_that_is_full_of_one_number():
    """Counts of bytes: 256 of a tile are none."""

    def mean(x, index):
        return torch.zeros(6, x.shape[1]).index_add(0, index, x) / index.bincount(minlength=6).clamp(min=1)[:, None]

    def of_bytes(x, index):
        counts = index.bincount(minlength=6)
        counts = torch.where(counts % 256 == 0, 0, counts) if counts.max() >= 1024 else counts
        return torch.zeros(6, x.shape[1]).index_add(0, index, x) / counts.clamp(min=1, max=1000)[:, None]

    def inputs(seed):
        return [torch.randn(40, 4, generator=generator(seed)), torch.randint(6, (40,), generator=generator(seed))]

    assert judged(mean, like=mean, inputs=inputs, gradients=False).ok
    found = wrong_at(judged(of_bytes, like=mean, inputs=inputs, gradients=False))
    assert found & {"40 as 1100, index all alike", "40 as 4200, index all alike"}


def test_few_rows_far_from_zero():
    def variance(x):
        return (x - x.mean(-1, keepdim=True)).square().mean(-1)

    def quick(x):
        return variance(x) if len(x) > 4 else (x.square().mean(-1) - x.mean(-1).square()).clamp(min=0)

    def inputs(seed):
        return [torch.randn(12, 64, generator=generator(seed))]

    assert judged(variance, like=variance, inputs=inputs, gradients=False).ok
    found = wrong_at(judged(quick, like=variance, inputs=inputs, gradients=False))
    assert found
    assert all(", negative values" in name for name in found)


def sums(x, ends):
    return torch.stack([x[a:b].sum(0) for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)])


def test_a_piece_that_begins_where_a_tile_does():
    def late(x, ends):
        first = torch.where((ends % 64 == 0) & (ends > 0), ends + 1, ends)
        pairs = torch.stack([first[:-1], ends[1:]], 1)
        return torch.cat([sums(x, pair) for pair in pairs])

    def inputs(seed):
        inner = torch.randperm(98, generator=generator(seed))[:4] + 1
        inner = torch.where(inner % 64 == 0, inner + 1, inner).unique()
        while len(inner) < 4:
            inner = torch.cat([inner, inner[-1:] + 1])
        ends = torch.cat([torch.zeros(1, dtype=torch.int64), inner.sort().values, torch.tensor([100])])
        return [torch.randn(100, 3, generator=generator(seed)), ends]

    assert judged(sums, like=sums, inputs=inputs, gradients=False).ok
    found = wrong_at(judged(late, like=sums, inputs=inputs, gradients=False))
    assert "a piece in ends that begins at 64" in found


def test_rows_that_sum_to_zero_are_no_empty_rows():
    def doubled(x):
        return 2 * x

    def skipping(x):
        return torch.where(x.sum(-1, keepdim=True) == 0, 0.0, 2 * x)

    def inputs(seed):
        return [torch.randn(5, 24, generator=generator(seed))]

    name = "pairs that cancel"
    assert wrong_at(judged(skipping, like=doubled, inputs=inputs, gradients=False, only=name)) == {name}


def test_other_bits_of_packed_words():
    def unpacked(words):
        return ((words[:, None] >> torch.arange(0, 32, 4, dtype=torch.int32)) & 15) + 1.0

    def wraps(words):
        return unpacked(words) % 16

    def inputs(seed):
        nibbles = torch.randint(3, 8, (6, 8), generator=generator(seed))
        return [(nibbles << torch.arange(0, 32, 4)).sum(-1).to(torch.int32)]

    assert judged(unpacked, like=unpacked, inputs=inputs, gradients=False).ok
    assert wrong_at(judged(wraps, like=unpacked, inputs=inputs, gradients=False)) == {"other bits in words"}


def test_a_mask_of_other_bytes_is_told():
    def kept(x, mask):
        return torch.where(mask != 0, x, 0.0)

    def inputs(seed):
        return [
            torch.randn(5, 24, generator=generator(seed)),
            torch.randint(2, (5, 24), generator=generator(seed), dtype=torch.uint8),
        ]

    report = judged(lambda x, mask: x * mask, like=kept, inputs=inputs, gradients=False)
    assert any(text.startswith("255 for 1 in mask: ") for text in report.not_judged), report


SHARED = """
import torch


class Added(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, bias):
        ctx.one = bias.shape[0] == 1
        return x + bias

    @staticmethod
    def backward(ctx, g):
        return g, g[-1:] if ctx.one else g


def reference(x, bias):
    return x + bias


def candidate(x, bias):
    return Added.apply(x, bias)


def inputs(seed):
    return [torch.randn(2, 5, 12, generator=torch.Generator().manual_seed(seed + k)) for k in (0, 9)]
"""


def test_the_gradient_of_what_all_of_a_batch_have_is_told(tmp_path):
    """In a process of its own alone, as other sizes of one tensor are."""
    for name in ("reference", "candidate"):
        (tmp_path / f"{name}.py").write_text(SHARED, encoding="utf-8")
    done = completed("check", "reference.py", "candidate.py", "--seconds", "30", cwd=tmp_path)
    told = "axis 0 of bias as 1: the candidate takes what it is to stretch, and has other gradients there"
    assert (done.returncode, told in done.stdout) == (0, True), done.stdout + done.stderr
