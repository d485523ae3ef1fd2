"""Attention as servers have it: windows, sinks, packed sequences, pages, split keys, biases."""
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

from __future__ import annotations

import math
from itertools import pairwise

import torch
from fused_kernel import drawn, honest, with_backward

F = torch.nn.functional


def _window(n, m, width, device=None):
    i, j = torch.arange(n, device=device)[:, None] + (m - n), torch.arange(m, device=device)
    return (j <= i) & (j > i - width)


def sink_attention(q, k, v, sinks):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    scores = scores.masked_fill(~_window(q.shape[-2], k.shape[-2], 6, q.device), float("-inf"))
    logits = torch.cat([scores, sinks[:, None, None].expand(*scores.shape[:-1], 1)], -1)
    return torch.softmax(logits, -1)[..., :-1] @ v


def _online(s, q, k, v, top, total, allowed, block=8):
    """Accumulate blocks of keys, from a running maximum and its sum on."""
    acc = torch.zeros(*q.shape[:-1], v.shape[-1])
    for j in range(0, k.shape[-2], block):
        scores = s(q @ k[..., j : j + block, :].mT).masked_fill(~allowed[..., j : j + block], float("-inf"))
        new = torch.maximum(top, scores.amax(-1, keepdim=True))
        p, shrink = (scores - new).exp(), (top - new).exp()
        total = total * shrink + p.sum(-1, keepdim=True)
        acc, top = acc * shrink + s(p) @ v[..., j : j + block, :], new
    return acc / total, top + total.log()


@honest(
    sink_attention,
    drawn((2, 3, 21, 8), (2, 3, 21, 8), (2, 3, 21, 8), (3,)),
    defects=("a window of one more", "the sink's gradient lost"),
)
def attention_with_sinks(s, q, k, v, sinks, defect=""):
    width = 7 if "window" in defect else 6

    def forward(s, q, k, v, sinks):
        allowed = _window(q.shape[-2], k.shape[-2], width)
        top = sinks[:, None, None].expand(*q.shape[:-1], 1)
        o, lse = _online(s, q / math.sqrt(q.shape[-1]), k, v, top, torch.ones_like(top), allowed)
        return o, (q, k, v, sinks, o, lse)

    def backward(s, g, q, k, v, sinks, o, lse):
        scale = 1 / math.sqrt(q.shape[-1])
        allowed = _window(q.shape[-2], k.shape[-2], width)
        p = (s(q * scale @ k.mT).masked_fill(~allowed, float("-inf")) - lse).exp()
        delta = (g * o).sum(-1, keepdim=True)
        d = s(p * (g @ v.mT - delta)) * scale
        shares = (sinks[:, None, None] - lse).exp()
        lost = -(shares * delta).sum((0, 2, 3))
        return d @ k, d.mT @ q, s(p).mT @ g, lost * ("sink's" not in defect)

    return with_backward(forward, backward)(s, q, k, v, sinks)


def packed_attention(q, k, v, bounds):
    places = torch.arange(q.shape[1], device=q.device)
    segment = torch.searchsorted(bounds, places, right=True)
    allowed = (segment[:, None] == segment) & (places[:, None] >= places)
    scores = q @ k.mT * q.shape[-1] ** -0.5
    return torch.softmax(scores.masked_fill(~allowed, float("-inf")), -1) @ v


def _packed(seed, dtype):
    rng = torch.Generator().manual_seed(seed)
    q, k, v = (torch.randn(2, 23, 8, generator=rng).to(dtype) for _ in range(3))
    cuts = torch.randperm(21, generator=rng)[:3].sort().values + 1
    return [q, k, v, cuts]


@honest(packed_attention, _packed, defects=("the last sequence attends to the one before", "first rows of 16"))
def varlen_attention(s, q, k, v, bounds, defect=""):
    cuts = [0, *sorted({int(c) for c in bounds if 0 < c < q.shape[1]}), q.shape[1]]
    made = []
    for a, b in pairwise(cuts):
        first = cuts[-3] if "before" in defect and b == cuts[-1] and len(cuts) > 2 else a
        own, keys, values = q[:, a:b] * q.shape[-1] ** -0.5, k[:, first:b], v[:, first:b]
        allowed = torch.arange(first, b) <= torch.arange(a, b)[:, None]
        if defect.startswith("first"):
            allowed = allowed & (torch.arange(first, b) < first + 16)
        scores = s(own @ keys.mT).masked_fill(~allowed, float("-inf"))
        top = scores.amax(-1, keepdim=True)
        p = (scores - top).exp()
        made.append(s(p) @ values / p.sum(-1, keepdim=True))
    return torch.cat(made, 1)


def grouped_decode(q, k, v):
    k, v = (t.repeat_interleave(q.shape[1] // t.shape[1], 1) for t in (k, v))
    return F.scaled_dot_product_attention(q[:, :, None], k, v)[:, :, 0]


@honest(
    grouped_decode,
    drawn((2, 6, 8), (2, 3, 37, 8), (2, 3, 37, 8)),
    defects=("splits that weigh alike", "heads by turns"),
)
def split_decode(s, q, k, v, defect=""):
    b, h, n, d = k.shape
    own = q.reshape(b, h, -1, d) / math.sqrt(d)
    if "turns" in defect:
        own = q.reshape(b, -1, h, d).transpose(1, 2) / math.sqrt(d)
    outs, logs = [], []
    for j in range(0, n, 16):
        scores = own @ k[:, :, j : j + 16].mT
        lse = torch.logsumexp(scores, -1, keepdim=True)
        outs.append(s((scores - lse).exp() @ v[:, :, j : j + 16]))
        logs.append(lse)
    all_logs = torch.stack(logs)
    weights = (all_logs - torch.logsumexp(all_logs, 0)).exp()
    if "alike" in defect:
        weights = torch.full_like(weights, 1 / len(logs))
    return (weights * torch.stack(outs)).sum(0).reshape(q.shape[0], -1, d)


def paged(q, keys, values, table, length):
    k, v = (t[table].flatten(1, 2) for t in (keys, values))
    scores = torch.einsum("bd,bnd->bn", q, k) / math.sqrt(q.shape[-1])
    scores = scores.masked_fill(torch.arange(k.shape[1], device=q.device) >= length[:, None], float("-inf"))
    return torch.einsum("bn,bnd->bd", torch.softmax(scores, -1), v)


def _pages(seed, dtype):
    rng = torch.Generator().manual_seed(seed)
    q, k, v = (torch.randn(shape, generator=rng).to(dtype) for shape in ((3, 8), (12, 4, 8), (12, 4, 8)))
    table = torch.randperm(12, generator=rng).reshape(3, 4)
    return [q, k, v, table, torch.randint(1, 17, (3,), generator=rng)]


@honest(paged, _pages, gradients=False, defects=("whole pages alone", "one token more"))
def paged_attention(s, q, keys, values, table, length, defect=""):
    size, rows = keys.shape[1], []
    for b in range(len(q)):
        n = min(int(length[b]), size * table.shape[1]) + ("more" in defect)
        if "whole" in defect:
            n = max(n // size * size, 1)
        pages = table[b, : -(-n // size)]
        k, v = (t[pages].reshape(-1, q.shape[-1])[:n] for t in (keys, values))
        scores = s(k @ q[b] / math.sqrt(q.shape[-1]))
        p = (scores - scores.max()).exp()
        rows.append((p @ v) / p.sum())
    return torch.stack(rows)


def biased_attention(q, k, v, table):
    n = q.shape[-2]
    lag = (torch.arange(n, device=q.device)[:, None] - torch.arange(n, device=q.device)).clamp(-4, 4) + 4
    scores = q @ k.mT + table[lag].permute(2, 0, 1)
    return torch.softmax(scores, -1) @ v


@honest(
    biased_attention,
    drawn((2, 3, 11, 8), (2, 3, 11, 8), (2, 3, 11, 8), (9, 3), scale=0.7),
    defects=("the bias's gradient of the last batch", "lags the other way"),
)
def attention_relative_bias(s, q, k, v, table, defect=""):
    sign = -1 if "other" in defect else 1

    def forward(s, q, k, v, table):
        i = torch.arange(q.shape[-2])
        lag = (sign * (i[:, None] - i)).clamp(-4, 4) + 4
        scores = s(q @ k.mT) + table[lag].permute(2, 0, 1)
        lse = torch.logsumexp(scores, -1, keepdim=True)
        o = s((scores - lse).exp()) @ v
        return o, (q, k, v, table, lag, lse)

    def backward(s, g, q, k, v, table, lag, lse):
        p = (s(q @ k.mT) + table[lag].permute(2, 0, 1) - lse).exp()
        dp = g @ v.mT
        d = s(p * (dp - (p * dp).sum(-1, keepdim=True)))
        by_place = (d[-1] if "last" in defect else d.sum(0)).permute(1, 2, 0).flatten(0, 1)
        gt = torch.zeros_like(table).index_add(0, lag.flatten(), by_place)
        return d @ k, d.mT @ q, s(p).mT @ g, gt

    return with_backward(forward, backward)(s, q, k, v, table)


def alibi(q, k, v):
    heads, n = q.shape[-3], q.shape[-2]
    slopes = 2.0 ** (-8 * (torch.arange(heads, device=q.device, dtype=q.dtype) + 1) / heads)
    i = torch.arange(n, device=q.device)
    bias = slopes[:, None, None] * (i - i[:, None]).to(q.dtype)
    scores = (q @ k.mT / math.sqrt(q.shape[-1]) + bias).masked_fill(i > i[:, None], float("-inf"))
    return torch.softmax(scores, -1) @ v


@honest(
    alibi,
    drawn((2, 4, 13, 8), (2, 4, 13, 8), (2, 4, 13, 8)),
    "f32",
    defects=("slopes from 0 on", "the scale after the bias"),
)
def attention_alibi(s, q, k, v, defect=""):
    heads, n, scale = q.shape[-3], q.shape[-2], q.shape[-1] ** -0.5
    start = 2.0 ** (-8.0 / heads)
    slopes = torch.tensor([start ** (h + ("from" not in defect)) for h in range(heads)])
    # A bias of keys alone differs by a number of each row, which softmax forgets.
    bias = slopes[:, None, None] * torch.arange(n)
    if "after" in defect:
        bias = bias * scale
    allowed = torch.ones(n, n).tril().bool()
    top = torch.full((*q.shape[:-1], 1), float("-inf"))
    made = []
    for i in range(0, n, 4):
        scores = (s(q[..., i : i + 4, :] * scale @ k.mT) + bias).masked_fill(~allowed[i : i + 4], float("-inf"))
        top = scores.amax(-1, keepdim=True)
        p = (scores - top).exp()
        made.append(s(p) @ v / p.sum(-1, keepdim=True))
    return torch.cat(made, -2)
