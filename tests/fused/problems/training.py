"""What is trained with: statistics that are updated, steps in place, backward passes, losses of answers."""

from __future__ import annotations

import numpy as np
import torch
from fused_problems.shared import F, Problem, Wrong, wide

# --- batch norm that updates its statistics, and ReLU


def normed(x, w, b, mean, var):
    return F.relu(F.batch_norm(x, mean, var, w, b, True, 0.1, 1e-5))


def _two_passes(x, w, b, mean, var, biased=False, rate=0.1, held=False):
    n = x.shape[0] * x.shape[2]
    centred = x - x.mean((0, 2), keepdim=True)
    spread = centred.square().sum((0, 2)) / n
    with torch.no_grad():
        mean.lerp_(x.sum((0, 2)) / n, rate)
        var.mul_(1 - rate).add_(spread * (1 if biased else n / (n - 1)), alpha=rate)
    root = (spread + 1e-5).rsqrt()
    root = root.detach() if held else root
    return (centred * (root * w)[:, None] + b[:, None]).clamp_min(0)


def _statistics(seed, dtype):
    torch.manual_seed(seed)
    x, w, b, mean = torch.randn(4, 3, 5) * 2 + 1, torch.randn(3), torch.randn(3), torch.randn(3)
    return [t.to(dtype) for t in (x, w, b, mean, torch.rand(3) + 0.5)]


NORMED = Problem(
    normed,
    _statistics,
    (_two_passes,),
    {
        "a variance of all": Wrong(lambda *t: _two_passes(*t, biased=True)),
        "the other share": Wrong(lambda *t: _two_passes(*t, rate=0.9)),
        "the spread is held constant in the backward": Wrong(lambda *t: _two_passes(*t, held=True)),
    },
    ("f32",),
)

# --- causal attention with a backward of its own, shares computed again from the logarithm of their sum


def _scores(q, k, masked=True):
    n = q.shape[-2]
    scores = q @ k.mT * q.shape[-1] ** -0.5
    return scores.masked_fill(torch.ones(n, n, dtype=torch.bool).triu(1), float("-inf")) if masked else scores


def causal(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def _recomputed(deltas=True, scaled=True, masked=True):
    class Attention(torch.autograd.Function):
        @staticmethod
        def forward(ctx, q, k, v):
            ctx.kind = q.dtype
            q, k, v = (t.float() for t in (q, k, v))
            scores = _scores(q, k)
            sums = scores.logsumexp(-1, keepdim=True)
            y = (scores - sums).exp() @ v
            ctx.save_for_backward(q, k, v, y, sums)
            return y.to(ctx.kind)

        @staticmethod
        def backward(ctx, g):
            q, k, v, y, sums = ctx.saved_tensors
            g = g.float()
            shares = (_scores(q, k, masked) - sums).exp()
            delta = (g * y).sum(-1, keepdim=True) if deltas else 0.0
            ds = shares * (g @ v.mT - delta) * (q.shape[-1] ** -0.5 if scaled else 1.0)
            return (ds @ k).to(ctx.kind), (ds.mT @ q).to(ctx.kind), (shares.mT @ g).to(ctx.kind)

    return Attention.apply


CAUSAL = Problem(
    causal,
    [(2, 2, 6, 8)] * 3,
    (_recomputed(),),
    {
        "no delta": Wrong(_recomputed(deltas=False)),
        "no scale in the backward": Wrong(_recomputed(scaled=False), "bf16"),
        "no mask in the backward": Wrong(_recomputed(masked=False)),
    },
)

# --- a step of AdamW in place, whose kernel makes 1 - beta in float32


def stepped(p, g, m, v):
    p.mul_(1 - 1e-3 * 0.01)
    m.mul_(0.9).add_(g, alpha=1 - 0.9)
    v.mul_(0.999).addcmul_(g, g, value=1 - 0.999)
    p.addcdiv_(m / (1 - 0.9**4), (v / (1 - 0.999**4)).sqrt() + 1e-8, value=-1e-3)
    return p


def _single(p, g, m, v, step=4, decay=0.01, stores=True):
    one, b1, b2 = np.float32(1), np.float32(0.9), np.float32(0.999)
    fresh = float(b1) * m + float(one - b1) * g
    square = float(b2) * v + float(one - b2) * g * g
    root = (square / float(one - b2**step)).sqrt() + 1e-8
    p.copy_(p - 1e-3 * (fresh / float(one - b1**step) / root + decay * p))
    m.copy_(fresh)
    if stores:
        v.copy_(square)
    return p


def _beginning(seed, dtype):
    torch.manual_seed(seed)
    p, g = torch.randn(6, 16).to(dtype), torch.randn(6, 16).to(dtype)
    return [p, g, 0.1 * torch.randn(6, 16).to(dtype), 1e-3 * torch.rand(6, 16).to(dtype)]


STEPPED = Problem(
    stepped,
    _beginning,
    (_single,),
    {
        "one step late": Wrong(lambda *t: _single(*t, step=5)),
        "no decay": Wrong(lambda *t: _single(*t, decay=0.0)),
        "v is not stored": Wrong(lambda *t: _single(*t, stores=False), diagnosis="v is left as it was"),
    },
    ("f32",),
)

# --- a clipped loss of answers' tokens, with the distance from a reference (GRPO)


def clipped(now, before, base, gain, mask):
    ratio, gain = (now - before).exp(), gain[:, None]
    best = torch.minimum(ratio * gain, ratio.clamp(0.8, 1.28) * gain)
    apart = (base - now).exp() - (base - now) - 1
    return -((best - 0.04 * apart) * mask).sum() / mask.sum()


def _by_sign(now, before, base, gain, mask, most=1.28, apart=0.04, by_row=False):
    ratio, gain = (now - before).exp(), gain[:, None]
    best = torch.where(gain >= 0, gain * ratio.clamp_max(most), gain * ratio.clamp_min(0.8))
    each = (apart * (torch.expm1(base - now) - (base - now)) - best) * mask
    return (each.sum(1) / mask.sum(1)).mean() if by_row else each.sum() / mask.sum()


def _answers(seed, dtype):
    torch.manual_seed(seed)
    now = torch.randn(5, 9) * 0.3 - 1
    mask = torch.arange(9) < torch.tensor([[9], [4], [7], [3], [6]])
    others = now + torch.randn(5, 9) * 0.3, torch.randn(5, 9) * 0.3 - 1, torch.randn(5), mask
    return [t.to(dtype) for t in (now, *others)]


CLIPPED = Problem(
    clipped,
    _answers,
    (wide(_by_sign),),
    {
        "clipped at 1.2": Wrong(wide(lambda *t: _by_sign(*t, most=1.2))),
        "no distance": Wrong(wide(lambda *t: _by_sign(*t, apart=0.0)), "bf16"),
        "a mean of means": Wrong(wide(lambda *t: _by_sign(*t, by_row=True))),
    },
)

# --- a smoothed loss of preferences (DPO), and how often the better one wins


def preferred(better, worse, base_better, base_worse):
    lead = 0.1 * ((better - worse) - (base_better - base_worse))
    return -0.9 * F.logsigmoid(lead).mean() - 0.1 * F.logsigmoid(-lead).mean(), (lead > 0).to(better.dtype).mean()


def _by_softplus(better, worse, base_better, base_worse, beta=0.1, smooth=0.1):
    lead = (better - base_better) - (worse - base_worse)
    loss = (1 - smooth) * F.softplus(-beta * lead) + smooth * F.softplus(beta * lead)
    return loss.sum() / len(loss), (lead > 0).to(better.dtype).mean()


def _folded(better, worse, base_better, base_worse):
    """By autograd log(1 + exp(-|x|)) and max(-x, 0) have no slope at 0, where training begins."""
    lead = 0.1 * ((better - base_better) - (worse - base_worse))
    tail = torch.log1p((-lead.abs()).exp())
    loss = 0.9 * (tail + (-lead).clamp_min(0)) + 0.1 * (tail + lead.clamp_min(0))
    return loss.mean(), (lead > 0).to(better.dtype).mean()


PREFERRED = Problem(
    preferred,
    [(16,)] * 4,
    (wide(_by_softplus),),
    {
        "another beta": Wrong(wide(lambda *t: _by_softplus(*t, beta=0.11))),
        "not smoothed": Wrong(wide(lambda *t: _by_softplus(*t, smooth=0.0)), "bf16"),
        "no slope at ties": Wrong(wide(_folded), beyond=True),
    },
)
