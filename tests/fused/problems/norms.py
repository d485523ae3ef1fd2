"""Normalisations."""

from __future__ import annotations

import torch
from fused_problems.shared import Problem, Wrong, times, wide

F = torch.nn.functional

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

# --- group norm + silu


def group_norm_silu(x, w, b):
    return F.silu(F.group_norm(x, 3, w, b, 1e-3))


def _group_by_moments(x, w, b, groups=3, outside=False, silent=False):
    parts = x.reshape(x.shape[0], groups, -1)
    mean = parts.mean(-1, keepdim=True)
    apart = parts - mean
    variance = apart.square().mean(-1, keepdim=True)
    rate = 1 / (variance.sqrt() + 1e-3) if outside else (variance + 1e-3).rsqrt()
    h = (apart * rate).reshape(x.shape)
    w, b = w[:, None, None], b[:, None, None]
    h = h * (w.detach() if silent else w) + b
    return h * torch.exp(F.logsigmoid(h))


def _group_by_channels(x, w, b):
    size = x.shape[1] // 3
    ys = []
    for i in range(0, x.shape[1], size):
        part = x[:, i : i + size]
        variance, mean = torch.var_mean(part, (1, 2, 3), unbiased=False, keepdim=True)
        h = (part - mean) / torch.sqrt(variance + 1e-3)
        h = h * w[i : i + size, None, None] + b[i : i + size, None, None]
        ys.append(h * torch.sigmoid(h))
    return torch.cat(ys, 1)


GROUP_NORM_SILU = Problem(
    group_norm_silu,
    [(2, 6, 3, 4), (6,), (6,)],
    (wide(_group_by_moments), wide(_group_by_channels)),
    {
        "two groups for three": Wrong(wide(lambda *t: _group_by_moments(*t, groups=2))),
        "eps outside the root": Wrong(wide(lambda *t: _group_by_moments(*t, outside=True)), "bf16", beyond=True),
        "no gradient of the weight": Wrong(wide(lambda *t: _group_by_moments(*t, silent=True))),
    },
)

# --- rows of length one, scaled by head


def unit_rows(x, scale):
    return F.normalize(x, dim=-1, eps=1e-6) * scale[:, None, None]


def _unit_by_root(x, scale):
    return x * (scale[:, None, None] * x.square().sum(-1, keepdim=True).clamp_min(1e-12).rsqrt())


def _unit_by_largest(x, scale):
    most = x.abs().amax(-1, keepdim=True).detach()
    apart = x / most
    return apart / apart.square().sum(-1, keepdim=True).sqrt() * scale[:, None, None]


UNIT_ROWS = Problem(
    unit_rows,
    [(3, 4, 9), (3,)],
    (wide(_unit_by_root), wide(_unit_by_largest)),
    {
        "sums of all heads": Wrong(
            wide(lambda x, s: x / x.square().sum((0, 2), keepdim=True).sqrt() * s[:, None, None])
        ),
        "length not differentiated": Wrong(
            wide(lambda x, s: x / x.detach().square().sum(-1, keepdim=True).sqrt() * s[:, None, None])
        ),
        "1.01 too large": Wrong(times(wide(_unit_by_root)), "bf16"),
    },
)
