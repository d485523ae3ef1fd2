"""Losses."""

from __future__ import annotations

import torch
from fused_problems.shared import Problem, Wrong, wide

F = torch.nn.functional

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
)

# --- a contrastive loss by log-sum-exp


def contrastive(x, y):
    x, y = F.normalize(x, dim=-1), F.normalize(y, dim=-1)
    scores = x @ y.T / 0.07
    return (torch.logsumexp(scores, -1) - scores.diagonal()).mean()


def _contrastive_shifted(x, y, scale=1 / 0.07, mean=True):
    x, y = (v / v.square().sum(-1, keepdim=True).clamp_min(1e-24).sqrt() for v in (x, y))
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

# --- focal loss of logits


def focal_loss(x, target):
    share = torch.sigmoid(x)
    plain = F.binary_cross_entropy_with_logits(x, target, reduction="none")
    right = share * target + (1 - share) * (1 - target)
    return ((0.25 * target + 0.75 * (1 - target)) * (1 - right) ** 2 * plain).mean()


def _focal_by_sign(x, target, power=2, heavy=0.25):
    z = torch.where(target > 0.5, x, -x)
    weight = torch.where(target > 0.5, heavy, 1 - heavy)
    return (weight * torch.sigmoid(-z) ** power * F.softplus(-z)).sum() / x.numel()


def _focal_by_rows(x, target):
    rows = []
    for xs, ts in zip(x, target, strict=True):
        z = xs * (2 * ts - 1)
        rows.append(((0.75 - 0.5 * ts) * torch.exp(2 * F.logsigmoid(-z)) * -F.logsigmoid(z)).mean())
    return torch.stack(rows).mean()


def _labels(seed, dtype):
    torch.manual_seed(seed)
    return [torch.randn(5, 8).to(dtype), torch.randint(2, (5, 8))]


def _whole(f):
    return wide(lambda x, target: f(x, target.to(x.dtype)))


FOCAL_LOSS = Problem(
    lambda x, target: focal_loss(x, target.to(x.dtype)),
    _labels,
    (_whole(_focal_by_sign), _whole(_focal_by_rows)),
    {
        "a power of 1": Wrong(_whole(lambda *t: _focal_by_sign(*t, power=1))),
        "weights swapped": Wrong(_whole(lambda *t: _focal_by_sign(*t, heavy=0.75))),
        "modulation not differentiated": Wrong(
            _whole(
                lambda x, t: (
                    (0.75 - 0.5 * t) * torch.sigmoid(-(x * (2 * t - 1))).detach() ** 2 * F.softplus(-x * (2 * t - 1))
                ).mean()
            )
        ),
    },
)

# --- cross-entropy with smoothed labels, some ignored


def smoothed_loss(x, target):
    return F.cross_entropy(x, target, ignore_index=-1, label_smoothing=0.1)


def _smoothed_by_terms(x, target, smoothing=0.1, count=None):
    kept = target >= 0
    logs = x - x.logsumexp(-1, keepdim=True)
    picked = logs.gather(-1, target.clamp_min(0)[:, None])[:, 0]
    rows = -(1 - smoothing) * picked - smoothing * logs.mean(-1)
    return torch.where(kept, rows, 0.0).sum() / (count or kept.sum())


def _smoothed_by_rows(x, target):
    rows = []
    for xs, t in zip(x, target.tolist(), strict=True):
        if t >= 0:
            wanted = torch.full_like(xs, 0.1 / xs.numel())
            wanted[t] += 0.9
            rows.append(xs.logsumexp(0) - (wanted * xs).sum())
    return torch.stack(rows).mean()


def _ignored(seed, dtype):
    torch.manual_seed(seed)
    return [torch.randn(7, 11).to(dtype), torch.tensor([3, -1, 0, 10, 5, -1, 2])]


SMOOTHED_LOSS = Problem(
    smoothed_loss,
    _ignored,
    (wide(_smoothed_by_terms), wide(_smoothed_by_rows)),
    {
        "ignored rows counted": Wrong(wide(lambda x, t: _smoothed_by_terms(x, t, count=7)), diagnosis="0.714286"),
        "smoothing of 0.11": Wrong(wide(lambda x, t: _smoothed_by_terms(x, t, 0.11)), beyond=True),
        "smoothing not differentiated": Wrong(
            wide(
                lambda x, t: (
                    _smoothed_by_terms(x, t, 0.0) * 0.9
                    + (smoothed_loss(x, t) - 0.9 * F.cross_entropy(x, t, ignore_index=-1)).detach()
                )
            )
        ),
    },
)

# --- distillation at a temperature


def distillation(x, y):
    log, teacher = F.log_softmax(x / 2, -1), F.softmax(y / 2, -1)
    return F.kl_div(log, teacher, reduction="batchmean") * 4


def _distilled_by_entropy(x, y, heat=2.0, rows=None):
    x, y = x / heat, y / heat
    x, y = x - x.logsumexp(-1, keepdim=True), y - y.logsumexp(-1, keepdim=True)
    return heat**2 * (y.exp() * (y - x)).sum() / (rows or x.shape[0])


def _distilled_by_rows(x, y):
    def row(a, b):
        a, b = a * 0.5, b * 0.5
        shares = (b - b.amax()).exp()
        shares = shares / shares.sum()
        return (shares * (b - a)).sum() - b.logsumexp(0) + a.logsumexp(0)

    return sum(row(a, b) for a, b in zip(x, y, strict=True)) * (4 / x.shape[0])


DISTILLATION = Problem(
    distillation,
    [(4, 9), (4, 9)],
    (wide(_distilled_by_entropy), wide(_distilled_by_rows)),
    {
        "teacher and student swapped": Wrong(
            wide(lambda x, y: _distilled_by_entropy(y, x)), diagnosis="inputs x and y are swapped"
        ),
        "mean over all": Wrong(wide(lambda x, y: _distilled_by_entropy(x, y, rows=36)), diagnosis="1/9"),
        "teacher without a gradient": Wrong(wide(lambda x, y: _distilled_by_entropy(x, y.detach()))),
    },
)
