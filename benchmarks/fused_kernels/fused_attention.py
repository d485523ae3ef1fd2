"""Softmax and attention: online, in blocks, with a saved logsumexp, masks and caps."""
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

from __future__ import annotations

import math

import torch
from fused_kernel import drawn, honest, with_backward

F = torch.nn.functional


@honest(lambda x: torch.softmax(x, -1), drawn((6, 45)))
def softmax_online(s, x):
    def forward(s, x):
        top, total = torch.full((*x.shape[:-1], 1), -math.inf), torch.zeros(*x.shape[:-1], 1)
        for part in x.split(16, -1):
            new = torch.maximum(top, part.amax(-1, keepdim=True))
            total = total * (top - new).exp() + (part - new).exp().sum(-1, keepdim=True)
            top = new
        y = s((x - top).exp() / total)
        return y, (y,)

    def backward(s, g, y):
        return (y * (g - (g * y).sum(-1, keepdim=True)),)

    return with_backward(forward, backward)(s, x)


def attention(q, k, v):
    return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1) @ v


def causal_attention(q, k, v):
    mask = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool, device=q.device).tril()
    return torch.softmax((q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~mask, -math.inf), -1) @ v


def _flash(s, q, k, v, causal, block=8):
    """Attention by blocks of keys with a running maximum, its backward by the logsumexp and sum(g o)."""

    def scores_of(q, k, at):
        found = q @ k.mT / math.sqrt(q.shape[-1])
        rows, keys = torch.arange(q.shape[-2])[:, None], at + torch.arange(k.shape[-2])
        return found.masked_fill(keys > rows, -math.inf) if causal else found

    def forward(s, q, k, v):
        top, total = torch.full((*q.shape[:-1], 1), -math.inf), torch.zeros(*q.shape[:-1], 1)
        o = torch.zeros(*q.shape[:-1], v.shape[-1])
        for at in range(0, k.shape[-2], block):
            found = scores_of(q, k[..., at : at + block, :], at)
            new = torch.maximum(top, found.amax(-1, keepdim=True))
            old, shares = (top - new).exp(), (found - new).exp()
            o = o * old + s(shares) @ v[..., at : at + block, :]
            top, total = new, total * old + shares.sum(-1, keepdim=True)
        o = s(o / total)
        return o, (q, k, v, o, top + total.log())

    def backward(s, g, q, k, v, o, lse):
        shares, delta = (scores_of(q, k, 0) - lse).exp(), (g * o).sum(-1, keepdim=True)
        d = s(shares * (g @ v.mT - delta)) / math.sqrt(q.shape[-1])
        return d @ k, d.mT @ q, s(shares).mT @ g

    return with_backward(forward, backward)(s, q, k, v)


@honest(attention, drawn((2, 9, 16), (2, 20, 16), (2, 20, 16)))
def flash_attention(s, q, k, v):
    return _flash(s, q, k, v, causal=False)


@honest(causal_attention, drawn((2, 20, 16), (2, 20, 16), (2, 20, 16)))
def flash_attention_causal(s, q, k, v):
    return _flash(s, q, k, v, causal=True)


@honest(attention, drawn((2, 9, 16), (2, 20, 16), (2, 20, 16)))
def attention_eager_stores(s, q, k, v):
    scores = s(s(q * (1 / math.sqrt(q.shape[-1]))) @ k.mT)
    shares = (scores - scores.amax(-1, keepdim=True)).exp()
    return s(shares / shares.sum(-1, keepdim=True)) @ v


def masked_attention(q, k, v, mask):
    scores = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~mask[:, None, :], -1e9)
    return torch.softmax(scores, -1) @ v


def _masks(seed, dtype):
    rng = torch.Generator().manual_seed(seed)
    made = [torch.randn(2, 10, 16, generator=rng).to(dtype) for _ in range(3)]
    return [*made, torch.arange(10) < torch.randint(3, 11, (2, 1), generator=rng)]


@honest(masked_attention, _masks)
def attention_key_mask(s, q, k, v, mask):
    scores = s(q @ k.mT * (1 / math.sqrt(q.shape[-1])))
    scores = torch.where(mask[:, None, :], scores, -1e9)
    return s(torch.exp(scores - torch.logsumexp(scores, -1, keepdim=True))) @ v


def softcapped(q, k, v):
    return torch.softmax(30 * torch.tanh(q @ k.mT / math.sqrt(q.shape[-1]) / 30), -1) @ v


@honest(softcapped, drawn((2, 9, 16), (2, 12, 16), (2, 12, 16)))
def attention_softcap(s, q, k, v):
    capped = torch.tanh(s(q @ k.mT) * (1 / (30 * math.sqrt(q.shape[-1])))) * 30
    shares = (capped - capped.amax(-1, keepdim=True)).exp()
    return (s(shares) @ v) / shares.sum(-1, keepdim=True)


@honest(lambda x, w: (torch.softmax(x @ w, 1)[..., None] * x).sum(1), drawn((3, 12, 16), (16,)))
def attention_pooling(s, x, w):
    scores = s((x * w).sum(-1))
    weights = (scores - scores.amax(1, keepdim=True)).exp()
    return torch.einsum("bn,bnd->bd", s(weights), x) / weights.sum(1)[:, None]


def linear_attention(q, k, v):
    q, k = F.elu(q) + 1, F.elu(k) + 1
    return (q @ (k.mT @ v)) / (q @ k.sum(-2)[..., None])


@honest(linear_attention, drawn((2, 9, 8), (2, 12, 8), (2, 12, 8)))
def linear_attention_quadratic(s, q, k, v):
    q, k = (s(torch.where(t > 0, t + 1, torch.exp(t.clamp_max(0)))) for t in (q, k))
    scores = s(q @ k.mT)
    return (scores @ v) / scores.sum(-1, keepdim=True)
