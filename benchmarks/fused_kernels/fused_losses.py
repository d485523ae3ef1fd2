"""Losses: fused with their gradient, in chunks, in logarithms."""
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

from __future__ import annotations

import math

import torch
from fused_kernel import drawn, honest, labels, with_backward

F = torch.nn.functional


def cross_entropy(x, target):
    return F.cross_entropy(x, target)


@honest(cross_entropy, drawn((10, 37), labels(10, below=37)))
def cross_entropy_liger(s, x, target):
    def forward(s, x, target):
        lse = torch.logsumexp(x, -1)
        own = x.gather(1, target[:, None])[:, 0]
        d = (x - lse[:, None]).exp()
        d = d.scatter_add(1, target[:, None], -torch.ones(len(x), 1)) / len(x)
        return (lse - own).sum() / len(x), (s(d),)

    def backward(s, g, d):
        return g * d, None

    return with_backward(forward, backward)(s, x, target)


@honest(lambda x, w, t: F.cross_entropy(x @ w, t), drawn((12, 16), (16, 30), labels(12, below=30)))
def linear_cross_entropy_chunked(s, x, w, t):
    def forward(s, x, w, t):
        loss, dx, dw = 0.0, [], torch.zeros_like(w)
        for a in range(0, len(x), 5):
            part, own = x[a : a + 5], t[a : a + 5, None]
            logits = s(part @ w)
            lse = torch.logsumexp(logits, -1, keepdim=True)
            loss = loss + (lse - logits.gather(1, own)).sum()
            d = (logits - lse).exp()
            d = s(d.scatter_add(1, own, -torch.ones(len(part), 1)) / len(x))
            dx.append(d @ w.mT)
            dw = dw + part.mT @ d
        return loss / len(x), (s(torch.cat(dx)), s(dw))

    def backward(s, g, dx, dw):
        return g * dx, g * dw, None

    return with_backward(forward, backward)(s, x, w, t)


@honest(lambda x, t: F.cross_entropy(x, t, label_smoothing=0.1), drawn((10, 37), labels(10, below=37)))
def cross_entropy_smoothed(s, x, t):
    logs = s(x - torch.logsumexp(x, -1, keepdim=True))
    own = logs.gather(1, t[:, None])[:, 0]
    return -(0.9 * own + 0.1 * logs.mean(-1)).mean()


@honest(lambda x, t: F.nll_loss(F.log_softmax(x, -1), t, reduction="none"), drawn((10, 37), labels(10, below=37)))
def log_softmax_nll(s, x, t):
    def forward(s, x, t):
        top = x.amax(-1, keepdim=True)
        lse = top + (x - top).exp().sum(-1, keepdim=True).log()
        return (lse - x.gather(1, t[:, None]))[:, 0], (x, lse, t)

    def backward(s, g, x, lse, t):
        d = (x - lse).exp()
        return g[:, None] * (d - F.one_hot(t, x.shape[1])), None

    return with_backward(forward, backward)(s, x, t)


@honest(lambda x: torch.logsumexp(x, -1).square().mean() * 1e-2, drawn((10, 37)))
def z_loss(s, x):
    top = x.amax(-1, keepdim=True)
    lse = top + (x - top).exp().sum(-1, keepdim=True).log()
    return (s(lse) ** 2).sum() / len(x) / 100


def focal(x, y):
    p = torch.sigmoid(x)
    ce = F.binary_cross_entropy_with_logits(x, y, reduction="none")
    pt = p * y + (1 - p) * (1 - y)
    return ((0.25 * y + 0.75 * (1 - y)) * (1 - pt).square() * ce).mean()


def _binary(seed, dtype):
    rng = torch.Generator().manual_seed(seed)
    return [torch.randn(8, 20, generator=rng).to(dtype), (torch.rand(8, 20, generator=rng) < 0.3).to(dtype)]


@honest(focal, _binary)
def focal_by_softplus(s, x, y):
    flipped = torch.where(y > 0.5, x, -x)
    ce, missed = F.softplus(-flipped), torch.sigmoid(-flipped)
    return (torch.where(y > 0.5, 0.25, 0.75) * s(missed * missed * ce)).mean()


@honest(
    lambda x, y: F.kl_div(F.log_softmax(x, -1), F.log_softmax(y, -1), reduction="batchmean", log_target=True),
    drawn((8, 21), (8, 21)),
)
def kl_by_shares(s, x, y):
    lx, ly = s(torch.log_softmax(x, -1)), s(torch.log_softmax(y, -1))
    return (ly.exp() * (ly - lx)).sum(-1).mean()


def jsd(p, q):
    p, q = torch.log_softmax(p, -1), torch.log_softmax(q, -1)
    m = torch.logaddexp(p, q) - math.log(2)
    return 0.5 * ((p.exp() * (p - m)) + (q.exp() * (q - m))).sum(-1).mean()


@honest(jsd, drawn((8, 21), (8, 21)))
def jsd_by_mixture(s, p, q):
    lp, lq = s(torch.log_softmax(p, -1)), s(torch.log_softmax(q, -1))
    m = torch.maximum(lp, lq) + torch.log1p(torch.exp(-(lp - lq).abs())) - math.log(2)
    return (lp.exp() * (lp - m) + lq.exp() * (lq - m)).sum() / (2 * len(p))


@honest(lambda x, y: F.huber_loss(x, y, delta=1.0), drawn((8, 21), (8, 21)))
def huber_by_clamp(s, x, y):
    d = s(x - y)
    near = d.abs().clamp_max(1.0)
    return (near * (d.abs() - 0.5 * near)).mean()


def _probabilities(seed, dtype):
    rng = torch.Generator().manual_seed(seed)
    p, w = torch.rand(8, 20, generator=rng) * 0.9 + 0.05, torch.rand(20, generator=rng) + 0.5
    return [p.to(dtype), (torch.rand(8, 20, generator=rng) < 0.4).to(dtype), w.to(dtype)]


@honest(lambda p, y, w: -(w * (y * p.log() + (1 - y) * (1 - p).log())).mean(), _probabilities)
def bce_of_probabilities(s, p, y, w):
    return (w * s(-torch.log(torch.where(y > 0.5, p, 1 - p)))).sum() / p.numel()


def info_nce(a, b):
    a, b = F.normalize(a, dim=-1), F.normalize(b, dim=-1)
    logits = a @ b.mT / 0.1
    at = torch.arange(len(a), device=a.device)
    return (F.cross_entropy(logits, at) + F.cross_entropy(logits.mT, at)) / 2


@honest(info_nce, drawn((8, 16), (8, 16)))
def clip_loss(s, a, b):
    a, b = (s(t * torch.rsqrt(t.square().sum(-1, keepdim=True).clamp_min(1e-24))) for t in (a, b))
    logits = s(a @ b.mT) * 10
    own = logits.diagonal()
    return (torch.logsumexp(logits, 1) - own).mean() / 2 + (torch.logsumexp(logits, 0) - own).mean() / 2


def dice(x, y):
    p = torch.sigmoid(x)
    return (1 - (2 * (p * y).sum(-1) + 1) / (p.sum(-1) + y.sum(-1) + 1)).mean()


@honest(dice, _binary)
def dice_by_tanh(s, x, y):
    p = s(0.5 + 0.5 * torch.tanh(0.5 * x))
    return 1 - ((2 * torch.einsum("bn,bn->b", p, y) + 1) / ((p + y).sum(-1) + 1)).mean()


def dpo(chosen, rejected, base):
    return -F.logsigmoid(0.1 * (chosen - rejected - base)).mean()


@honest(dpo, drawn((16,), (16,), (16,)))
def dpo_by_softplus(s, chosen, rejected, base):
    return F.softplus(-0.1 * s(s(chosen - rejected) - base)).sum() / chosen.numel()


@honest(lambda x, y: F.cosine_similarity(x, y, dim=-1), drawn((8, 24), (8, 24)))
def cosine_by_products(s, x, y):
    xy, xx, yy = (x * y).sum(-1), (x * x).sum(-1), (y * y).sum(-1)
    return xy / (s(xx.clamp_min(1e-16).sqrt()) * s(yy.clamp_min(1e-16).sqrt()))


@honest(lambda a, p, n: F.triplet_margin_loss(a, p, n, margin=1.0), drawn((8, 24), (8, 24), (8, 24)))
def triplet_by_where(s, a, p, n):
    near, far = ((a - t + 1e-6).square().sum(-1).sqrt() for t in (p, n))
    d = s(near - far + 1)
    return torch.where(d > 0, d, 0.0).mean()
