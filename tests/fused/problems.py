"""Fused operators as a few lines of PyTorch, with candidates that are right and candidates that are not.

Right ones compute in another order, in chunks or online, in float32, and round once. A wrong one says in which dtype it
shows; where only other values than the given show it, `beyond`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

F = torch.nn.functional


@dataclass(frozen=True)
class Wrong:
    candidate: Callable[..., Any]
    dtype: str = "f32"
    beyond: bool = False


@dataclass(frozen=True)
class Problem:
    reference: Callable[..., Any]
    inputs: Any
    right: tuple[Callable[..., Any], ...]
    wrong: dict[str, Wrong]
    dtypes: tuple[str, ...] = ("f32", "f16", "bf16")
    beyond: bool = True  # whether right ones pass for other values too, where some elements saturate


def wide(f, rounded=True):
    """`f` computed in float32, its results rounded once to the dtype of the first tensor."""

    def candidate(*tensors):
        ys = f(*(t.float() if t.is_floating_point() else t for t in tensors))
        if not rounded:
            return ys
        dtype = tensors[0].dtype
        return tuple(y.to(dtype) for y in ys) if isinstance(ys, tuple) else ys.to(dtype)

    return candidate


def times(f, factor=1.01):
    """Every floating result of `f`, too large."""

    def candidate(*tensors):
        ys = f(*tensors)
        return tuple(y * factor for y in ys) if isinstance(ys, tuple) else ys * factor

    return candidate


# --- residual + RMS norm


def add_rms_norm(x, r, w):
    h = x + r
    return h, h * torch.rsqrt(h.square().mean(-1, keepdim=True) + 1e-6) * w


def _rms_by_sum(x, r, w):
    h = r + x
    return h, w * (h / torch.sqrt((h * h).sum(-1, keepdim=True) / h.shape[-1] + 1e-6))


def _rms_by_chunks(x, r, w):
    h = x + r
    squares = sum(part.square().sum(-1, keepdim=True) for part in h.split(5, -1))
    return h, h * w * (squares / h.shape[-1] + 1e-6).rsqrt()


def _rms_eps_outside(x, r, w):
    h = x + r
    return h, h / (h.square().mean(-1, keepdim=True).sqrt() + 1e-6) * w


class _NoBatchSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx, h, w):
        ctx.save_for_backward(h, w)
        return h * w

    @staticmethod
    def backward(ctx, g):
        h, w = ctx.saved_tensors
        return g * w, (g * h)[0]


def _rms_no_batch_sum(x, r, w):
    h = x + r
    return h, _NoBatchSum.apply(h * torch.rsqrt(h.square().mean(-1, keepdim=True) + 1e-6), w)


ADD_RMS_NORM = Problem(
    add_rms_norm,
    [(6, 33), (6, 33), (33,)],
    (wide(_rms_by_sum), wide(_rms_by_chunks)),
    {
        "eps outside the root": Wrong(wide(_rms_eps_outside), beyond=True),
        "no sum over the batch": Wrong(wide(_rms_no_batch_sum)),
        "1.01 too large": Wrong(times(wide(_rms_by_sum)), "bf16"),
    },
)

# --- swiglu


def swiglu(x, a, b, c):
    return (F.silu(x @ a) * (x @ b)) @ c


def _swiglu_chunks(x, a, b, c):
    parts = zip(a.split(7, 1), b.split(7, 1), c.split(7, 0), strict=True)
    return sum(((x @ p) * torch.sigmoid(x @ p) * (x @ q)) @ r for p, q, r in parts)


def _swiglu_joined(x, a, b, c):
    gate, up = (x @ torch.cat([a, b], 1)).chunk(2, -1)
    return (up * gate * torch.sigmoid(gate)) @ c


SWIGLU = Problem(
    swiglu,
    [(5, 16), (16, 20), (16, 20), (20, 12)],
    (wide(_swiglu_chunks), wide(_swiglu_joined)),
    {
        "gates swapped": Wrong(wide(lambda x, a, b, c: swiglu(x, b, a, c))),
        "tail dropped": Wrong(wide(lambda x, a, b, c: swiglu(x, a[:, :-1], b[:, :-1], c[:-1]))),
        "gelu for silu": Wrong(wide(lambda x, a, b, c: (F.gelu(x @ a) * (x @ b)) @ c), "bf16"),
    },
)

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

# --- linear + cross-entropy, over chunks of the vocabulary


def linear_cross_entropy(x, w, target):
    return F.cross_entropy(x @ w.T, target)


def _loss_by_chunks(x, w, target):
    parts = [x @ p.T for p in w.split(9)]
    whole = torch.stack([p.logsumexp(-1) for p in parts], -1).logsumexp(-1)
    rows = torch.arange(x.shape[0])
    picked = sum(
        torch.where(target // 9 == i, p[rows, (target - 9 * i).clamp(0, p.shape[1] - 1)], 0.0)
        for i, p in enumerate(parts)
    )
    return (whole - picked).mean()


def _loss_by_rows(x, w, target):
    rows = [torch.logsumexp(w @ x[i] - w[t] @ x[i], 0) for i, t in enumerate(target.tolist())]
    return torch.stack(rows).sum() / len(rows)


def _tokens(seed, dtype):
    torch.manual_seed(seed)
    return [torch.randn(6, 12).to(dtype), torch.randn(31, 12).to(dtype), torch.randint(31, (6,))]


LINEAR_CROSS_ENTROPY = Problem(
    linear_cross_entropy,
    _tokens,
    (wide(_loss_by_chunks), wide(_loss_by_rows)),
    {
        "a sum for the mean": Wrong(wide(lambda x, w, t: F.cross_entropy(x @ w.T, t, reduction="sum"))),
        "last chunk dropped": Wrong(wide(lambda x, w, t: _loss_by_chunks(x, w[:27], t % 27))),
        "gradient not of the target": Wrong(
            wide(lambda x, w, t: ((x @ w.T).logsumexp(-1) - (x * w[t]).sum(-1).detach()).mean()),
        ),
    },
    beyond=False,  # exp(logit - logsumexp) has the rounding of a large logsumexp, log_softmax has not
)

# --- int4 groups, dequantised and multiplied


def int4_matmul(x, packed, scale, zero):
    low, high = packed & 15, packed >> 4
    codes = torch.stack([low, high], -1).reshape(packed.shape[0], -1)
    groups = codes.reshape(packed.shape[0], -1, 8).to(scale.dtype)
    return x @ ((groups - zero[..., None]) * scale[..., None]).reshape(packed.shape[0], -1).T


def _int4_factored(x, packed, scale, zero, swapped=False):
    codes = torch.stack([packed >> 4, packed & 15] if swapped else [packed & 15, packed >> 4], -1)
    groups = codes.reshape(packed.shape[0], -1, 8).float()
    parts = x.reshape(x.shape[0], -1, 8)
    sums = torch.einsum("mgk,ngk->mng", parts, groups) - parts.sum(-1)[:, None] * zero
    return (sums * scale).sum(-1)


def _int4_columns(x, packed, scale, zero):
    return torch.cat([int4_matmul(x, *(t[i : i + 2] for t in (packed, scale, zero))) for i in range(0, 6, 2)], -1)


def _codes(seed, dtype):
    torch.manual_seed(seed)
    packed = torch.randint(256, (6, 12), dtype=torch.uint8).int()
    return [torch.randn(5, 24).to(dtype), packed, (torch.rand(6, 3) + 0.1).to(dtype), torch.full((6, 3), 8.0).to(dtype)]


INT4_MATMUL = Problem(
    int4_matmul,
    _codes,
    (wide(_int4_factored), wide(_int4_columns)),
    {
        "halves of a byte swapped": Wrong(wide(lambda *t: _int4_factored(*t, swapped=True))),
        "zero point 7": Wrong(wide(lambda x, p, s, z: int4_matmul(x, p, s, z - 1)), "bf16"),
        "scale of the next group": Wrong(wide(lambda x, p, s, z: int4_matmul(x, p, s.roll(1, 1), z))),
    },
)

# --- gating of experts


def gating(x, w):
    shares = (x @ w).softmax(-1)
    best, which = shares.topk(2, -1)
    return best / best.sum(-1, keepdim=True), which


def _gating_of_logits(x, w):
    best, which = (x @ w).topk(2, -1)
    return best.softmax(-1), which


def _gating_by_sort(x, w):
    best, which = (x @ w).sort(-1, descending=True)
    e = (best[:, :2] - best[:, :1]).exp()
    return e / e.sum(-1, keepdim=True), which[:, :2]


def _shares_rounded(f):
    def candidate(x, w):
        shares, which = f(x.float(), w.float())
        return shares.to(x.dtype), which

    return candidate


GATING = Problem(
    gating,
    [(7, 16), (16, 8)],
    (_shares_rounded(_gating_of_logits), _shares_rounded(_gating_by_sort)),
    {
        "shares of all experts": Wrong(_shares_rounded(lambda x, w: (x @ w).softmax(-1).topk(2, -1))),
        "order of experts": Wrong(_shares_rounded(lambda x, w: (gating(x, w)[0], gating(x, w)[1].flip(-1)))),
        "one expert for all rows": Wrong(
            _shares_rounded(lambda x, w: (gating(x, w)[0], gating(x, w)[1][:1].expand(x.shape[0], 2)))
        ),
    },
    beyond=False,  # shares of exactly 0 tie, in any order; and logits keep digits that shares lose
)

# --- selective scan


def selective_scan(x, dt, a, b, c):
    state = torch.zeros(x.shape[1], a.shape[1])
    ys = []
    for t in range(x.shape[0]):
        step = F.softplus(dt[t])
        state = torch.exp(-step[:, None] * a.exp()) * state + (step * x[t])[:, None] * b[t]
        ys.append(state @ c[t])
    return torch.stack(ys)


def _scan_by_sums(x, dt, a, b, c, first=0):
    step = F.softplus(dt)
    decay = torch.cumsum(-step[:, :, None] * a.exp(), 0)
    rows = []
    for t in range(x.shape[0]):
        left = torch.exp(decay[t] - decay[first : t + 1])
        rows.append((left * (step * x)[first : t + 1, :, None] * b[first : t + 1, None] * c[t]).sum((0, 2)))
    return torch.stack(rows)


def _scan_by_state(x, dt, a, b, c):
    step = torch.log1p(torch.exp(-dt.abs())) + dt.clamp_min(0)
    states = [torch.zeros(x.shape[1]) for _ in range(a.shape[1])]
    ys = []
    for t in range(x.shape[0]):
        states = [s * torch.exp(-step[t] * a[:, n].exp()) + step[t] * x[t] * b[t, n] for n, s in enumerate(states)]
        ys.append(sum(s * c[t, n] for n, s in enumerate(states)))
    return torch.stack(ys)


SELECTIVE_SCAN = Problem(
    selective_scan,
    [(6, 5), (6, 5), (5, 3), (6, 3), (6, 3)],
    (wide(_scan_by_sums), wide(_scan_by_state)),
    {
        "first step forgotten": Wrong(
            wide(lambda *t: torch.cat([selective_scan(*t)[:1], _scan_by_sums(*t, first=1)[1:]]))
        ),
        "steps a hundredth too long": Wrong(wide(lambda x, dt, a, b, c: selective_scan(x, dt + 1e-2, a, b, c)), "bf16"),
        "no gradient of the decay": Wrong(wide(lambda x, dt, a, b, c: selective_scan(x, dt, a.detach(), b, c))),
    },
    beyond=False,  # exp(a) of wide values overflows in float32, and differences of its sums lose their digits
)

# --- a step of AdamW: parameters in the dtype under test, moments in float32


def adamw_step(p, g, m, v):
    g, w = g.to(m.dtype), p.to(m.dtype)
    m = 0.9 * m + 0.1 * g
    v = 0.95 * v + 0.05 * g * g
    w = w - 0.01 * (m / (1 - 0.9**3) / (torch.sqrt(v / (1 - 0.95**3)) + 1e-8) + 0.1 * w)
    return w.to(p.dtype), m, v


def _adamw_lerp(p, g, m, v, eps=1e-8, decay=0.1):
    g, w = g.float(), p.float()
    m, v = m.lerp(g, 0.1), v * 0.95 + (g * g) * 0.05
    root = v.sqrt() / (1 - 0.95**3) ** 0.5
    return (w * (1 - 0.01 * decay) - (0.01 / (1 - 0.9**3)) * m / (root + eps)).to(p.dtype), m, v


def _adamw_addcdiv(p, g, m, v):
    g, w = g.float(), p.float()
    m, v = (m * 0.9).add(g, alpha=0.1), (v * 0.95).addcmul(g, g, value=0.05)
    w = w * (1 - 0.01 * 0.1)
    return w.addcdiv(m, (v / (1 - 0.95**3)).sqrt() + 1e-8, value=-0.01 / (1 - 0.9**3)).to(p.dtype), m, v


def _adamw_rounded(*tensors):
    w, m, v = _adamw_lerp(*tensors)
    return w, m.bfloat16().float(), v


def _moments(seed, dtype):
    torch.manual_seed(seed)
    return [torch.randn(5, 9).to(dtype), torch.randn(5, 9).to(dtype), torch.randn(5, 9), torch.rand(5, 9) + 0.5]


ADAMW = Problem(
    adamw_step,
    _moments,
    (_adamw_lerp, _adamw_addcdiv),
    {
        "no decay of weights": Wrong(lambda *t: _adamw_lerp(*t, decay=0.0)),
        "gradient not squared": Wrong(
            lambda p, g, m, v: (*_adamw_lerp(p, g, m, v)[:2], 0.95 * v + 0.05 * g.float().abs())
        ),
        "moment in bf16": Wrong(_adamw_rounded, "bf16"),
    },
)

# --- a contrastive loss by log-sum-exp


def contrastive(x, y):
    x, y = F.normalize(x, dim=-1), F.normalize(y, dim=-1)
    scores = x @ y.T / 0.07
    return (torch.logsumexp(scores, -1) - scores.diagonal()).mean()


def _contrastive_shifted(x, y, scale=1 / 0.07, mean=True):
    x = x / x.square().sum(-1, keepdim=True).sqrt()
    y = y / y.square().sum(-1, keepdim=True).sqrt()
    scores = (x @ y.T) * scale
    most = scores.amax(-1, keepdim=True).detach()
    rows = (scores - most).exp().sum(-1).log() + most.squeeze(-1) - (x * y).sum(-1) * scale
    return rows.mean() if mean else rows.sum()


def _contrastive_by_entropy(x, y):
    scores = F.normalize(x, dim=-1) @ F.normalize(y, dim=-1).T / 0.07
    return F.cross_entropy(scores, torch.arange(x.shape[0]))


CONTRASTIVE = Problem(
    contrastive,
    [(6, 16), (6, 16)],
    (wide(_contrastive_shifted), wide(_contrastive_by_entropy)),
    {
        "temperature of 0.071": Wrong(wide(lambda x, y: _contrastive_shifted(x, y, 1 / 0.071)), "bf16"),
        "a sum for the mean": Wrong(wide(lambda x, y: _contrastive_shifted(x, y, mean=False))),
        "columns for rows": Wrong(wide(lambda x, y: _contrastive_shifted(y, x))),
    },
)

# --- layer norm + gelu


def norm_gelu(x, w, b):
    return F.gelu(F.layer_norm(x, (x.shape[-1],), w, b))


def _norm_by_moments(x, w, b, unbiased=0, axis=-1):
    mean = x.sum(-1, keepdim=True) / x.shape[-1]
    apart = x - mean
    h = apart / torch.sqrt(apart.square().sum(-1, keepdim=True) / (x.shape[-1] - unbiased) + 1e-5) * w + b
    return h * 0.5 * torch.erfc(-h * 0.5**0.5)


def _norm_by_var(x, w, b):
    variance, mean = torch.var_mean(x, -1, unbiased=False, keepdim=True)
    rate = torch.rsqrt(variance + 1e-5)
    h = (x - mean) * (rate * w) + b
    return h * (1 + torch.erf(h / 2**0.5)) / 2


NORM_GELU = Problem(
    norm_gelu,
    [(5, 24), (24,), (24,)],
    (wide(_norm_by_moments), wide(_norm_by_var)),
    {
        "unbiased variance": Wrong(wide(lambda x, w, b: _norm_by_moments(x, w, b, unbiased=1)), "bf16"),
        "tanh form of gelu": Wrong(
            wide(lambda x, w, b: F.gelu(F.layer_norm(x, (x.shape[-1],), w, b), approximate="tanh"))
        ),
        "bias without its gradient": Wrong(wide(lambda x, w, b: norm_gelu(x, w, b.detach()))),
    },
)

PROBLEMS = {
    "add_rms_norm": ADD_RMS_NORM,
    "swiglu": SWIGLU,
    "rope_attention": ROPE_ATTENTION,
    "linear_cross_entropy": LINEAR_CROSS_ENTROPY,
    "int4_matmul": INT4_MATMUL,
    "gating": GATING,
    "selective_scan": SELECTIVE_SCAN,
    "adamw": ADAMW,
    "contrastive": CONTRASTIVE,
    "norm_gelu": NORM_GELU,
}
