"""Rotations in two layouts, running sums in blocks, scans as matrices, causal convolutions."""
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

from __future__ import annotations

import torch
from fused_kernel import drawn, honest, with_backward

F = torch.nn.functional


def _rotate_half(x, cos, sin):
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat([-b, a], -1) * sin


def _angles(seed, dtype):
    rng = torch.Generator().manual_seed(seed)
    t = torch.arange(7)[:, None] * 10000 ** (-torch.arange(0, 16, 2) / 16)
    angles = torch.cat([t, t], -1) + seed
    return [torch.randn(2, 3, 7, 16, generator=rng).to(dtype), angles.cos().to(dtype), angles.sin().to(dtype)]


@honest(lambda x, cos, sin: _rotate_half(x, cos.detach(), sin.detach()), _angles)
def rope_halves(s, x, cos, sin):
    def forward(s, x, cos, sin):
        n = x.shape[-1] // 2
        a, b, c, z = x[..., :n], x[..., n:], cos[..., :n], sin[..., :n]
        low, high = cos[..., n:], sin[..., n:]
        return torch.cat([a * c - b * z, b * low + a * high], -1), (cos, sin)

    def backward(s, g, cos, sin):
        n = g.shape[-1] // 2
        a, b = g[..., :n], g[..., n:]
        return torch.cat([a * cos[..., :n] + b * sin[..., n:], b * cos[..., n:] - a * sin[..., :n]], -1), None, None

    return with_backward(forward, backward)(s, x, cos, sin)


def _pairs(x, angles):
    a, b = x[..., ::2], x[..., 1::2]
    c, z = angles.cos(), angles.sin()
    return torch.stack([a * c - b * z, a * z + b * c], -1).flatten(-2)


def _turns(seed, dtype):
    rng = torch.Generator().manual_seed(seed)
    angles = torch.arange(7)[:, None] * 10000 ** (-torch.arange(0, 16, 2) / 16) + seed
    return [torch.randn(2, 7, 16, generator=rng).to(dtype), angles]


@honest(lambda x, angles: _pairs(x, angles.detach()), _turns, "f32")
def rope_interleaved_complex(s, x, angles):
    turned = (
        torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2).contiguous())
        * torch.polar(torch.ones_like(angles), angles).detach()
    )
    return torch.view_as_real(turned).flatten(-2)


@honest(lambda x: torch.cumsum(x, -1), drawn((4, 50)))
def cumsum_in_blocks(s, x):
    before, made = torch.zeros(*x.shape[:-1], 1), []
    for part in x.split(16, -1):
        made.append(torch.cumsum(part, -1) + before)
        before = before + part.sum(-1, keepdim=True)
    return torch.cat(made, -1)


def ema(x, a):
    h, made = torch.zeros_like(x[:, 0]), []
    for t in range(x.shape[1]):
        h = a * h + (1 - a) * x[:, t]
        made.append(h)
    return torch.stack(made, 1)


def _decays(seed, dtype):
    rng = torch.Generator().manual_seed(seed)
    return [torch.randn(2, 12, 6, generator=rng).to(dtype), (0.2 + 0.6 * torch.rand(6, generator=rng)).to(dtype)]


@honest(ema, _decays, "f32")
def ema_by_powers(s, x, a):
    n = x.shape[1]
    t = torch.arange(n)
    lag = (t[:, None] - t[None, :]).clamp_min(0)
    weights = torch.where(t[:, None] >= t[None, :], a[:, None, None] ** lag, 0.0)
    return (1 - a) * torch.einsum("cts,bsc->btc", weights, x)


@honest(lambda x, k: F.silu(F.conv1d(F.pad(x, (3, 0)), k[:, None], groups=k.shape[0])), drawn((2, 6, 15), (6, 4)))
def causal_conv_silu(s, x, k):
    taps, padded = k.shape[-1], F.pad(x, (3, 0))
    n = padded.shape[-1] - taps + 1
    y = s(sum(padded[..., j : j + n] * k[:, j, None] for j in range(taps)))
    return y * torch.sigmoid(y)
