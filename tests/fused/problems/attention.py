"""Attention."""

from __future__ import annotations

import torch
from fused_problems.shared import Problem, Wrong, times, wide

F = torch.nn.functional

# --- rope, then causal attention of grouped heads over a cache


def _turned(x, at):
    half = x.shape[-1] // 2
    rate = 100.0 ** (-torch.arange(half) / half)
    angle = at[:, None] * rate
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], -1)


def rope_attention(q, k, v, before_k, before_v):
    past, now = before_k.shape[1], q.shape[1]
    at = torch.arange(past, past + now)
    keys = torch.cat([before_k, _turned(k, at)], 1).repeat_interleave(2, 0)
    values = torch.cat([before_v, v], 1).repeat_interleave(2, 0)
    scores = _turned(q, at) @ keys.transpose(-1, -2) / q.shape[-1] ** 0.5
    hidden = torch.arange(past + now)[None] > at[:, None]
    return scores.masked_fill(hidden, float("-inf")).softmax(-1) @ values


def _attention_online(q, k, v, before_k, before_v, shift=0, heads=lambda t: t.repeat_interleave(2, 0), chunk=3):
    past, now = before_k.shape[1], q.shape[1]
    at = torch.arange(past, past + now)
    keys, values = heads(torch.cat([before_k, _turned(k, at)], 1)), heads(torch.cat([before_v, v], 1))
    turned = _turned(q, at) * q.shape[-1] ** -0.5
    most = torch.full((*q.shape[:2], 1), float("-inf"))
    total, sums = torch.zeros_like(most), torch.zeros(*q.shape[:2], v.shape[-1])
    for start in range(0, past + now, chunk):
        places = torch.arange(start, min(start + chunk, past + now))
        scores = turned @ keys[:, places].transpose(-1, -2)
        scores = scores.masked_fill(places[None] > at[:, None] + shift, float("-inf"))
        fresh = torch.maximum(most, scores.amax(-1, keepdim=True))
        shrink, shares = torch.exp(most - fresh), torch.exp(scores - fresh)
        total, sums = total * shrink + shares.sum(-1, keepdim=True), sums * shrink + shares @ values[:, places]
        most = fresh
    return sums / total


def _attention_per_head(q, k, v, before_k, before_v):
    parts = [
        rope_attention(q[h : h + 2], k[h // 2 :][:1], v[h // 2 :][:1], before_k[h // 2 :][:1], before_v[h // 2 :][:1])
        for h in (0, 2)
    ]
    return torch.cat(parts)


ROPE_ATTENTION = Problem(
    rope_attention,
    [(4, 5, 8), (2, 5, 8), (2, 5, 8), (2, 3, 8), (2, 3, 8)],
    (wide(_attention_online), wide(_attention_per_head)),
    {
        "mask off by one": Wrong(wide(lambda *t: _attention_online(*t, shift=1))),
        "heads mapped wrongly": Wrong(wide(lambda *t: _attention_online(*t, heads=lambda x: x.repeat(2, 1, 1)))),
        "positions without the cache": Wrong(
            wide(lambda q, k, v, a, b: rope_attention(_turned(q, torch.zeros(5)), _turned(k, torch.ones(5)), v, a, b)),
        ),
        "1.01 too large": Wrong(times(wide(_attention_online)), "bf16"),
    },
)

# --- causal attention with a linear bias by head


def alibi_attention(q, k, v):
    n = q.shape[1]
    apart = torch.arange(n)[None] - torch.arange(n)[:, None]
    slopes = 2.0 ** -(torch.arange(q.shape[0]) + 1.0)
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5 + slopes[:, None, None] * apart
    return scores.masked_fill(apart > 0, float("-inf")).softmax(-1) @ v


def _alibi_rows(q, k, v, extra=0, first=1.0):
    heads = []
    for h in range(q.shape[0]):
        rows = []
        for i in range(q.shape[1]):
            seen = min(i + 1 + extra, q.shape[1])
            scores = k[h, :seen] @ q[h, i] * q.shape[-1] ** -0.5
            scores = scores - 2.0 ** -(h + first) * (i - torch.arange(seen))
            shares = torch.exp(scores - scores.amax())
            rows.append(shares @ v[h, :seen] / shares.sum())
        heads.append(torch.stack(rows))
    return torch.stack(heads)


def _alibi_by_logsumexp(q, k, v):
    places = torch.arange(q.shape[1])
    slopes = 2.0 ** -(torch.arange(q.shape[0]) + 1.0)
    scores = torch.einsum("hid,hjd->hij", q * q.shape[-1] ** -0.5, k)
    scores = scores + slopes[:, None, None] * (places[None] - places[:, None])
    scores = torch.where(places[None] > places[:, None], float("-inf"), scores)
    return torch.exp(scores - scores.logsumexp(-1, keepdim=True)) @ v


ALIBI_ATTENTION = Problem(
    alibi_attention,
    [(3, 6, 8), (3, 6, 8), (3, 6, 8)],
    (wide(_alibi_rows), wide(_alibi_by_logsumexp)),
    {
        "mask off by one": Wrong(wide(lambda *t: _alibi_rows(*t, extra=1))),
        "slopes from the second": Wrong(wide(lambda *t: _alibi_rows(*t, first=2.0)), "bf16"),
        "keys without a gradient": Wrong(wide(lambda q, k, v: _alibi_rows(q, k.detach(), v))),
    },
)

# --- attention within a window, its scores capped


def window_attention(q, k, v):
    n = q.shape[1]
    apart = torch.arange(n)[:, None] - torch.arange(n)[None]
    scores = 5.0 * torch.tanh(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5 / 5.0)
    return scores.masked_fill((apart < 0) | (apart >= 3), float("-inf")).softmax(-1) @ v


def _window_rows(q, k, v, width=3, cap=5.0):
    rows = []
    for i in range(q.shape[1]):
        seen = slice(max(0, i - width + 1), i + 1)
        scores = (k[:, seen] * q[:, i : i + 1]).sum(-1) / q.shape[-1] ** 0.5
        e = torch.exp(cap * torch.tanh(scores / cap) - cap)
        rows.append((e[..., None] * v[:, seen]).sum(1) / e.sum(1, keepdim=True))
    return torch.stack(rows, 1)


def _window_shifted(q, k, v):
    scores, values = [], []
    for back in range(3):
        shifted, vs = (F.pad(t, (0, 0, back, 0))[:, : t.shape[1]] for t in (k, v))
        s = 5.0 * torch.tanh((q * shifted).sum(-1) * (0.2 * q.shape[-1] ** -0.5))
        scores.append(s.masked_fill(torch.arange(q.shape[1]) < back, float("-inf")))
        values.append(vs)
    shares = torch.stack(scores, -1).softmax(-1)
    return (shares[..., None] * torch.stack(values, -2)).sum(-2)


WINDOW_ATTENTION = Problem(
    window_attention,
    [(2, 7, 8), (2, 7, 8), (2, 7, 8)],
    (wide(_window_rows), wide(_window_shifted)),
    {
        "window one too wide": Wrong(wide(lambda *t: _window_rows(*t, width=4))),
        "no cap": Wrong(wide(lambda *t: _window_rows(*t, cap=1e3)), "bf16"),
        "1.01 too large": Wrong(times(wide(_window_rows)), "bf16"),
    },
)

# --- linear attention with a positive feature map


def linear_attention(q, k, v):
    q, k = F.elu(q) + 1, F.elu(k) + 1
    shares = q @ k.transpose(-1, -2)
    return shares @ v / (shares.sum(-1, keepdim=True) + 1e-6)


def _positive(x):
    return torch.where(x > 0, x + 1, torch.exp(torch.clamp(x, max=0.0)))


def _linear_by_state(q, k, v, eps=1e-6, mean=False):
    q, k = _positive(q), _positive(k)
    total = q @ k.sum(1)[..., None]
    return q @ (k.transpose(-1, -2) @ v) / ((total / k.shape[1] if mean else total) + eps)


def _linear_by_chunks(q, k, v, dropped=0):
    q, k = _positive(q), _positive(k)
    state, total = 0.0, 0.0
    for ks, vs in zip(k.split(2, 1)[: -dropped or None], v.split(2, 1), strict=False):
        state = state + ks.transpose(-1, -2) @ vs
        total = total + ks.sum(1)
    return q @ state / (q @ total[..., None] + 1e-6)


LINEAR_ATTENTION = Problem(
    linear_attention,
    [(2, 5, 8), (2, 7, 8), (2, 7, 4)],
    (wide(_linear_by_state), wide(_linear_by_chunks)),
    {
        "last chunk dropped": Wrong(wide(lambda *t: _linear_by_chunks(*t, dropped=1)), diagnosis="does not enter"),
        "a mean for the sum": Wrong(
            wide(lambda *t: _linear_by_state(*t, mean=True)), diagnosis="7 is the size of axis 1 of k"
        ),
        "a feature map without its 1": Wrong(wide(lambda q, k, v: _linear_by_state(q - 1, k, v)), "bf16"),
    },
)

# --- attention to a memory of several lengths


def memory_attention(q, k, v, lengths):
    hidden = torch.arange(k.shape[1])[None] >= lengths[:, None]
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    return scores.masked_fill(hidden[:, None], float("-inf")).softmax(-1) @ v


def _memory_cut(q, k, v, lengths, more=0):
    ys = []
    for i, n in enumerate(lengths.tolist()):
        scores = (q[i] / q.shape[-1] ** 0.5) @ k[i, : n + more].T
        ys.append(scores.softmax(-1) @ v[i, : n + more])
    return torch.stack(ys)


def _memory_merged(q, k, v, lengths):
    parts = []
    for start in (0, 3):
        places = torch.arange(start, min(start + 3, k.shape[1]))
        scores = q @ k[:, places].transpose(-1, -2) * q.shape[-1] ** -0.5
        scores = scores.masked_fill((places[None] >= lengths[:, None])[:, None], -1e30)
        most = scores.logsumexp(-1, keepdim=True)
        parts.append((most, torch.exp(scores - most) @ v[:, places]))
    whole = torch.logaddexp(parts[0][0], parts[1][0])
    return sum(torch.exp(most - whole) * y for most, y in parts)


def _memories(seed, dtype):
    torch.manual_seed(seed)
    return [*(torch.randn(3, n, 8).to(dtype) for n in (4, 6, 6)), torch.tensor([2, 5, 4])]


MEMORY_ATTENTION = Problem(
    memory_attention,
    _memories,
    (wide(_memory_cut), wide(_memory_merged)),
    {
        "lengths off by one": Wrong(wide(lambda *t: _memory_cut(*t, more=1))),
        "lengths of the next": Wrong(wide(lambda q, k, v, n: _memory_cut(q, k, v, n.roll(1)))),
        "queries not scaled": Wrong(wide(lambda q, k, v, n: _memory_cut(q * q.shape[-1] ** 0.5, k, v, n))),
    },
)
