"""Products, quotients, pools and limits."""
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

from __future__ import annotations

import torch
from fused_kernel import drawn, honest

F = torch.nn.functional


@honest(lambda x, w, a, b: x @ w + 0.5 * ((x @ a) @ b), drawn((6, 24), (24, 20), (24, 4), (4, 20)))
def lora_merged(s, x, w, a, b):
    return x @ s(torch.addmm(w, a, b, alpha=0.5))


@honest(lambda x, s: x / s.square().mean(-1, keepdim=True).sqrt(), drawn((6, 24), (6, 24), positive=(1,)))
def divide_by_rms(s, x, scale):
    return x * s(torch.rsqrt(scale.square().sum(-1, keepdim=True) / scale.shape[-1]))


@honest(lambda x, var: (x.square() / var + var.log()).mean(-1), drawn((6, 24), (6, 24), positive=(1,)))
def gaussian_nll(s, x, var):
    z = s(x * torch.rsqrt(var))
    return (z * z + s(torch.log(var))).sum(-1) / x.shape[-1]


def mean_pool(x, mask):
    weights = mask.to(x.dtype)[..., None]
    return (x * weights).sum(1) / weights.sum(1)


def _lengths(seed, dtype):
    rng = torch.Generator().manual_seed(seed)
    mask = torch.arange(9) < torch.randint(2, 10, (3, 1), generator=rng)
    return [torch.randn(3, 9, 8, generator=rng).to(dtype), mask]


@honest(mean_pool, _lengths)
def mean_pool_by_product(s, x, mask):
    weights = mask.float()
    return torch.bmm(weights[:, None], x)[:, 0] / weights.sum(1, keepdim=True)


@honest(lambda x: F.max_pool2d(x, 2) + F.avg_pool2d(x, 2), drawn((2, 3, 8, 6)))
def pool_by_windows(s, x):
    parts = x.unfold(2, 2, 2).unfold(3, 2, 2).flatten(-2)
    return s(parts.amax(-1)) + parts.sum(-1) / 4


@honest(lambda x, lo, hi: torch.clamp(x * 2 + 1, -1.0, 1.0) * lo + hi, drawn((6, 24), (24,), (24,)))
def hard_tanh_affine(s, x, lo, hi):
    h = s(2 * x + 1)
    return torch.where(h > 1, 1.0, torch.where(h < -1, -1.0, h)) * lo + hi


@honest(lambda x, w: torch.amax(x @ w, -1), drawn((8, 16), (16, 12)))
def product_then_max(s, x, w):
    y = s(x @ w)
    return y.gather(-1, y.argmax(-1, keepdim=True))[..., 0]


@honest(lambda x, w: torch.minimum(torch.relu(x @ w), torch.tensor(6.0)) / 6, drawn((8, 16), (16, 12)))
def relu6_scaled(s, x, w):
    return s(x @ w).clamp(0, 6) * (1 / 6)
