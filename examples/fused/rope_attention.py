"""Rotary embedding and causal attention of grouped queries with a cache, online: keys come in chunks of three.

Broken: query head h reads key head h mod 2, not h // 2.
"""

import torch


def turned(x, at):
    """Halves of every head rotated by the angle of its position."""
    half = x.shape[-1] // 2
    angle = at[:, None] * 100.0 ** (-torch.arange(half, dtype=x.dtype) / half)
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], -1)


def reference(q, k, v, cached_k, cached_v):
    past, now = cached_k.shape[1], q.shape[1]
    at = torch.arange(past, past + now)
    keys = torch.cat([cached_k, turned(k, at)], 1).repeat_interleave(2, 0)
    values = torch.cat([cached_v, v], 1).repeat_interleave(2, 0)
    scores = turned(q, at) @ keys.mT / q.shape[-1] ** 0.5
    hidden = torch.arange(past + now) > at[:, None]
    return scores.masked_fill(hidden, -torch.inf).softmax(-1) @ values


inputs = [(4, 5, 8), (2, 5, 8), (2, 5, 8), (2, 3, 8), (2, 3, 8)]


def right(q, k, v, cached_k, cached_v, mapped=lambda h, of: h // (h.numel() // of)):
    past, now = cached_k.shape[1], q.shape[1]
    at = torch.arange(past, past + now)
    head = mapped(torch.arange(q.shape[0]), k.shape[0])
    keys, values = torch.cat([cached_k, turned(k, at)], 1)[head], torch.cat([cached_v, v], 1)[head]
    q = turned(q, at) * q.shape[-1] ** -0.5
    most = q.new_full((*q.shape[:2], 1), -torch.inf)
    total, sums = torch.zeros_like(most), torch.zeros_like(q)
    for start in range(0, past + now, 3):
        place = torch.arange(start, min(start + 3, past + now))
        scores = (q @ keys[:, place].mT).masked_fill(place > at[:, None], -torch.inf)
        highest = torch.maximum(most, scores.amax(-1, keepdim=True))
        kept, shares = (most - highest).exp(), (scores - highest).exp()
        total, sums = total * kept + shares.sum(-1, keepdim=True), sums * kept + shares @ values[:, place]
        most = highest
    return sums / total


def broken(q, k, v, cached_k, cached_v):
    return right(q, k, v, cached_k, cached_v, mapped=lambda h, of: h % of)
