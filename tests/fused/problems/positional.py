"""Positions."""

from __future__ import annotations

import torch
from fused_problems.shared import Problem, Wrong, times, wide

F = torch.nn.functional

# --- rotation of neighbouring pairs, of the first half of each head


def rope_pairs(x, at):
    half = x.shape[-1] // 2
    rate = 50.0 ** (-torch.arange(0, half, 2, dtype=x.dtype) / half)
    angle = at[:, None].to(x.dtype) * rate
    a, b = x[..., :half:2], x[..., 1:half:2]
    turned = torch.stack([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1)
    return torch.cat([turned.flatten(-2), x[..., half:]], -1)


def _pairs_complex(x, at, base=50.0, back=1.0):
    half = x.shape[-1] // 2
    rate = base ** (-torch.arange(0, half, 2) / half)
    turn = torch.polar(torch.ones(at.shape[0], rate.shape[0]), back * at[:, None] * rate)
    pairs = torch.view_as_complex(x[..., :half].reshape(*x.shape[:-1], -1, 2).contiguous())
    return torch.cat([torch.view_as_real(pairs * turn).flatten(-2), x[..., half:]], -1)


def _pairs_by_matrix(x, at):
    half = x.shape[-1] // 2
    parts = []
    for i in range(half // 2):
        angle = at * 50.0 ** (-2 * i / half)
        c, s = angle.cos(), angle.sin()
        turn = torch.stack([torch.stack([c, -s], -1), torch.stack([s, c], -1)], -2)
        parts.append(torch.einsum("nij,hnj->hni", turn, x[..., 2 * i : 2 * i + 2]))
    return torch.cat([*parts, x[..., half:]], -1)


def _places(seed, dtype):
    torch.manual_seed(seed)
    return [torch.randn(3, 4, 16).to(dtype), torch.tensor([0, 3, 1, 7])]


def _halves(x, at):
    half = x.shape[-1] // 4
    angle = at[:, None] * 50.0 ** (-torch.arange(half) / half)
    a, b = x[..., :half], x[..., half : 2 * half]
    turned = [a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()]
    return torch.cat([*turned, x[..., 2 * half :]], -1)


ROPE_PAIRS = Problem(
    rope_pairs,
    _places,
    (wide(_pairs_complex), wide(_pairs_by_matrix)),
    {
        "halves for pairs": Wrong(wide(_halves)),
        "turned back": Wrong(wide(lambda *t: _pairs_complex(*t, back=-1.0))),
        "positions in order": Wrong(wide(lambda x, at: _pairs_complex(x, torch.arange(4))), "bf16"),
    },
)

# --- scores with a bias by relative distance, looked up in buckets


def bucket_bias(q, k, table):
    apart = torch.arange(k.shape[1])[None] - torch.arange(q.shape[1])[:, None]
    bias = table[apart.clamp(-2, 2) + 2]
    return (q @ k.transpose(-1, -2) + bias.permute(2, 0, 1)).softmax(-1)


def _bias_by_rows(q, k, table, shift=2, far=2):
    heads = []
    for h in range(q.shape[0]):
        rows = []
        for i in range(q.shape[1]):
            buckets = (torch.arange(k.shape[1]) - i).clamp(-far, far) + shift
            rows.append(((k[h] * q[h, i]).sum(-1) + table[buckets, h]).softmax(0))
        heads.append(torch.stack(rows))
    return torch.stack(heads)


def _bias_by_one_hot(q, k, table):
    apart = (torch.arange(k.shape[1])[None] - torch.arange(q.shape[1])[:, None]).clamp(-2, 2) + 2
    chosen = F.one_hot(apart, 5).float()
    scores = torch.einsum("hid,hjd->hij", q, k) + torch.einsum("ijb,bh->hij", chosen, table)
    e = torch.exp(scores - scores.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)


BUCKET_BIAS = Problem(
    bucket_bias,
    [(2, 6, 4), (2, 7, 4), (5, 2)],
    (wide(_bias_by_rows), wide(_bias_by_one_hot)),
    {
        "distance the other way": Wrong(wide(lambda q, k, t: _bias_by_rows(q, k, t.flip(0)))),
        "heads swapped": Wrong(wide(lambda q, k, t: _bias_by_one_hot(q, k, t.flip(1)))),
        "1.01 too large": Wrong(times(wide(_bias_by_rows)), "bf16"),
    },
)
