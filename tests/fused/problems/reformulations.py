"""The same function in another form, as kernels have it: online, in chunks, compensated, with another base."""

from __future__ import annotations

import math

import torch
from fused_problems.shared import Problem, Wrong, wide

F = torch.nn.functional
LOG2E = 1 / math.log(2)

# --- a softmax of two


def two_shares(a, b):
    return torch.softmax(torch.stack([a, b]), 0)


def _by_difference(a, b):
    return torch.stack([torch.sigmoid(a - b), torch.sigmoid(b - a)])


def _by_tanh(a, b):
    return torch.stack([0.5 + 0.5 * torch.tanh((a - b) / 2), 0.5 - 0.5 * torch.tanh((a - b) / 2)])


def _one_detached(a, b):
    y = _by_difference(a, b)
    return torch.stack([y[0], y[1].detach()])


TWO_SHARES = Problem(
    two_shares,
    [(5, 7), (5, 7)],
    (
        wide(_by_difference),
        wide(_by_tanh),  # of a share of e^-20 no digit is left, as of 1 - s, which gates and merges of two compute
        wide(lambda a, b: torch.log_softmax(torch.stack([a, b]), 0).exp()),
    ),
    {
        "a hard sigmoid far out": Wrong(wide(lambda a, b: _by_difference((a - b).clamp(-8, 8), b * 0)), beyond=True),
        "one share detached": Wrong(wide(_one_detached)),
    },
)

# --- logsumexp


def logsumexp(x):
    return torch.logsumexp(x, -1)


def _streamed(x, size=4, late=False):
    top, total = x[..., 0] * 0 - math.inf, x[..., 0] * 0
    for part in x.split(size, -1):
        new = torch.maximum(top, part.amax(-1))
        total = total * (1.0 if late else torch.exp(top - new)) + torch.exp(part - new[..., None]).sum(-1)
        top = new
    return top + total.log()


def _base_two(x):
    y = x * LOG2E
    top = y.amax(-1, keepdim=True)
    return (top[..., 0] + torch.exp2(y - top).sum(-1).log2()) / LOG2E


LOGSUMEXP = Problem(
    logsumexp,
    [(3, 5, 19)],
    (wide(_streamed), wide(_base_two)),
    {
        "total not rescaled": Wrong(wide(lambda x: _streamed(x, late=True))),
        "no maximum": Wrong(wide(lambda x: x.exp().sum(-1).log()), beyond=True),
        "maximum over all rows": Wrong(wide(lambda x: (x - x.amax()).exp().sum(-1).log() + x.amax()), beyond=True),
        "a constant of 1.442": Wrong(wide(lambda x: torch.logsumexp(x * (1.442 / LOG2E), -1))),
    },
    ("f32", "f16"),  # in bf16 a saved y leaves the shares too open to prove anything
)

# --- label smoothing


def smoothed(x, target):
    return F.cross_entropy(x, target, label_smoothing=0.1)


def _smoothed_online(x, target, size=4, classes=0, ignored=False):
    lse = _streamed(x, size)
    hit = x.gather(1, target[:, None])[:, 0]
    if classes:
        even = 0.1 / (x.shape[1] - classes)
        return (lse - (0.9 - even) * hit - even * x.sum(-1)).mean()
    return (lse - 0.9 * hit - 0.1 * x.mean(-1)).mean()


def _labels(seed, dtype):
    torch.manual_seed(seed)
    return [torch.randn(6, 19).to(dtype), torch.randint(19, (6,))]


SMOOTHED = Problem(
    smoothed,
    _labels,
    (wide(_smoothed_online), wide(lambda x, t: _smoothed_online(x - x.mean(-1, keepdim=True), t))),
    {
        "smoothed over the other classes": Wrong(wide(lambda x, t: _smoothed_online(x, t, classes=1))),
        "mean detached": Wrong(wide(lambda x, t: _smoothed_online(x, t) + 0.1 * (x - x.detach()).mean())),
    },
)

# --- moments in one pass


def layer_norm(x, w, b):
    return F.layer_norm(x, x.shape[-1:], w, b)


def _welford(x, w, b):
    mean, square = x[..., 0], x[..., 0] * 0
    for i in range(1, x.shape[-1]):
        apart = x[..., i] - mean
        mean = mean + apart / (i + 1)
        square = square + apart * (x[..., i] - mean)
    rate = torch.rsqrt(square / x.shape[-1] + 1e-5)
    return (x - mean[..., None]) * rate[..., None] * w + b


def _merged(x, w, b, size=8):
    """Moments of chunks, merged as Chan has it."""
    count, mean, square = 0, x[..., 0] * 0, x[..., 0] * 0
    for part in x.split(size, -1):
        n, own = part.shape[-1], part.mean(-1)
        apart = own - mean
        square = square + (part - own[..., None]).square().sum(-1) + apart.square() * (count * n / (count + n))
        mean = mean + apart * (n / (count + n))
        count += n
    return (x - mean[..., None]) / torch.sqrt(square / count + 1e-5)[..., None] * w + b


def _of_squares(x, w, b):
    mean = x.mean(-1, keepdim=True)
    return (x - mean) * torch.rsqrt(x.square().mean(-1, keepdim=True) - mean.square() + 1e-5) * w + b


class _NormWithout(torch.autograd.Function):
    """A layer norm whose backward forgets that the variance depends on x."""

    @staticmethod
    def forward(ctx, x, w, b):
        ctx.save_for_backward(x, w)
        return F.layer_norm(x, x.shape[-1:], w, b)

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        apart = x - x.mean(-1, keepdim=True)
        rate = torch.rsqrt(apart.square().mean(-1, keepdim=True) + 1e-5)
        d = g * w * rate
        return d - d.mean(-1, keepdim=True), (g * apart * rate).sum((0, 1)), g.sum((0, 1))


LAYER_NORM = Problem(
    layer_norm,
    [(2, 3, 37), (37,), (37,)],
    (wide(_welford), wide(_merged)),
    {
        # x^2 - mean^2 of a mean far from 0 has no digits left.
        "variance as a difference of squares": Wrong(wide(_of_squares), beyond=True),
        "variance without a gradient": Wrong(wide(_NormWithout.apply)),
        "a bias per row": Wrong(wide(lambda x, w, b: layer_norm(x, w, b) - b + b.mean())),
    },
)

# --- compensated sums


def centred(x):
    return x - x.mean(0)


def _kahan(x):
    total, lost = x[0] * 0, x[0] * 0
    for row in x:
        y = row - lost
        new = total + y
        lost = (new - total) - y
        total = new
    return total


def _pairwise(x):
    while len(x) > 1:
        half = len(x) // 2
        x = torch.cat([x[:half] + x[half : 2 * half], x[2 * half :]])
    return x[0]


CENTRED = Problem(
    centred,
    [(67, 5)],
    (wide(lambda x: x - _kahan(x) / len(x)), wide(lambda x: x - _pairwise(x) / len(x))),
    {
        "last row not counted": Wrong(wide(lambda x: x - _kahan(x[:-1]) / len(x))),
        "mean in bf16": Wrong(wide(lambda x: x - x.mean(0).bfloat16().float()), "bf16", beyond=True),
        "no gradient of the mean": Wrong(wide(lambda x: x - x.mean(0).detach())),
    },
)

# --- a product cut along its inner axis


def linear(x, w, b):
    return x @ w.T + b


def _split(x, w, b, size=16, stored=None, order=None):
    at = torch.arange(x.shape[1]) if order is None else order(x.shape[1])
    y = 0
    for part in at.split(size):
        p = x[:, part] @ w[:, part].T
        y = y + (p if stored is None else p.to(stored).to(p.dtype))
    return y + b


def _shuffled(n):
    return torch.randperm(n, generator=torch.Generator().manual_seed(n))


LINEAR = Problem(
    linear,
    [(5, 83), (7, 83), (7,)],
    (
        wide(_split),
        wide(lambda *t: _split(*t, size=1, order=_shuffled)),
        wide(lambda *t: _split(*t, size=5, order=_shuffled)),
    ),
    {
        "parts stored in bf16": Wrong(wide(lambda *t: _split(*t, stored=torch.bfloat16)), "bf16"),
        "bias in every part": Wrong(wide(lambda x, w, b: _split(x, w, 6 * b))),
        "last part dropped": Wrong(wide(lambda x, w, b: _split(x[:, :80], w[:, :80], b))),
        "inputs of tf32": Wrong(lambda x, w, b: ((x + x * 2**11) - x * 2**11) @ w.T + b),
    },
)

# --- attention with a base of two


def attention(q, k, v):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    hidden = torch.ones(q.shape[-2], k.shape[-2]).triu(1).bool()
    return scores.masked_fill(hidden, -math.inf).softmax(-1) @ v


def _flash(q, k, v, size=4, fault=""):
    q = q * (LOG2E / math.sqrt(q.shape[-1]))
    n = torch.arange(q.shape[-2])[:, None]
    top, total, y = q[..., :1] * 0 - 1e30, q[..., :1] * 0, None
    for first in range(0, k.shape[-2], size):
        part = k[..., first : first + size, :]
        m = torch.arange(first, first + part.shape[-2])
        scores = (q @ part.mT).masked_fill(m > n, -math.inf if fault != "weak mask" else -20.0)
        new = torch.maximum(top, scores.amax(-1, keepdim=True))
        p, left = torch.exp2(scores - new), torch.exp2(top - new)
        left = left if fault != "stale" or first < 2 * size else left * 0 + 1
        total = total * left + p.sum(-1, keepdim=True)
        share = p @ v[..., first : first + size, :]
        y = share if y is None else y * left + share
        top = new
    return y / total


def _decoded(q, k, v, size=5):
    """Keys in parts, each with a softmax of its own; parts merged by their logsumexp."""
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    scores = scores.masked_fill(torch.ones(q.shape[-2], k.shape[-2]).triu(1).bool(), -1e30)
    ys, tops = [], []
    for s, part in zip(scores.split(size, -1), v.split(size, -2), strict=True):
        lse = s.logsumexp(-1, keepdim=True)
        ys.append(torch.exp(s - lse) @ part)
        tops.append(lse)
    weights = torch.softmax(torch.stack(tops), 0)
    return (weights * torch.stack(ys)).sum(0)


def _coarse_shares(q, k, v):
    scores = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(torch.ones(11, 11).triu(1).bool(), -math.inf)
    return scores.softmax(-1).bfloat16().to(v.dtype) @ v


ATTENTION = Problem(
    attention,
    [(2, 11, 8), (2, 11, 8), (2, 11, 8)],
    (wide(_flash), wide(_decoded)),
    {
        "maximum stale in the third block": Wrong(wide(lambda *t: _flash(*t, fault="stale"))),
        "a mask that is finite": Wrong(wide(lambda *t: _flash(*t, fault="weak mask"))),
        "scale of the other head size": Wrong(wide(lambda q, k, v: _flash(q * math.sqrt(8 / 9), k, v))),
        "shares in bf16": Wrong(wide(_coarse_shares)),
    },
)
