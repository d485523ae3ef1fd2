"""Normalisations: two passes, Welford, blocks; backwards by the mean and the rate that were saved."""
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

from __future__ import annotations

import torch
from fused_kernel import drawn, honest, with_backward

F = torch.nn.functional


def add_layer_norm(x, r, w, b):
    h = x + r
    return h, F.layer_norm(h, h.shape[-1:], w, b)


def _layer_norm_backward(s, gh, g, h, mean, rate, w):
    y, gw = (h - mean) * rate, g * w
    d = rate * (gw - gw.mean(-1, keepdim=True) - y * (gw * y).mean(-1, keepdim=True)) + gh
    return d, d, (g * y).sum(0), g.sum(0)


@honest(add_layer_norm, drawn((6, 40), (6, 40), (40,), (40,)))
def add_layer_norm_two_pass(s, x, r, w, b):
    def forward(s, x, r, w, b):
        h = s(x + r)
        mean = h.sum(-1, keepdim=True) / h.shape[-1]
        rate = 1 / torch.sqrt((h - mean).square().sum(-1, keepdim=True) / h.shape[-1] + 1e-5)
        return (h, (h - mean) * rate * w + b), (h, mean, rate, w)

    return with_backward(forward, _layer_norm_backward)(s, x, r, w, b)


@honest(add_layer_norm, drawn((6, 40), (6, 40), (40,), (40,)))
def add_layer_norm_welford(s, x, r, w, b):
    def forward(s, x, r, w, b):
        h = s(x + r)
        mean, spread, n = torch.zeros_like(h[..., :1]), torch.zeros_like(h[..., :1]), 0
        for part in h.split(16, -1):
            m, own = part.shape[-1], part.mean(-1, keepdim=True)
            delta = own - mean
            mean = mean + delta * (m / max(n + m, 1))
            spread = spread + (part - own).square().sum(-1, keepdim=True) + delta.square() * (n * m / max(n + m, 1))
            n += m
        rate = torch.rsqrt(spread / max(n, 1) + 1e-5)
        return (h, s((h - mean) * rate) * w + b), (h, mean, rate, w)

    return with_backward(forward, _layer_norm_backward)(s, x, r, w, b)


def add_rms_norm(x, r, w):
    h = x + r
    return h, h * torch.rsqrt(h.square().mean(-1, keepdim=True) + 1e-6) * w


@honest(add_rms_norm, drawn((6, 40), (6, 40), (40,)))
def add_rms_norm_liger(s, x, r, w):
    def forward(s, x, r, w):
        h = s(x + r)
        rate = torch.rsqrt((h * h).sum(-1, keepdim=True) / h.shape[-1] + 1e-6)
        return (h, s(h * rate) * w), (h, rate, w)

    def backward(s, gh, g, h, rate, w):
        m = g * w
        d = rate * m - rate**3 * h * (m * h).sum(-1, keepdim=True) / h.shape[-1] + gh
        return d, d, (g * s(h * rate)).sum(0)

    return with_backward(forward, backward)(s, x, r, w)


@honest(lambda x, w: F.rms_norm(x, x.shape[-1:], w, 1e-6), drawn((6, 40), (40,), positive=(1,)))
def rms_norm_gemma(s, x, w):
    squares = sum(part.square().sum(-1, keepdim=True) for part in x.split(16, -1))
    return s(x / torch.sqrt(squares / x.shape[-1] + 1e-6)) * w


@honest(lambda x, w, b: F.silu(F.group_norm(x, 4, w, b)), drawn((2, 8, 5, 3), (8,), (8,)))
def group_norm_silu(s, x, w, b):
    parts = x.reshape(x.shape[0], 4, -1)
    apart = parts - parts.mean(-1, keepdim=True)
    y = s(apart * torch.rsqrt(apart.square().mean(-1, keepdim=True) + 1e-5)).reshape(x.shape)
    y = s(y * w[:, None, None] + b[:, None, None])
    return y * torch.sigmoid(y)


@honest(lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True), drawn((9, 6, 4), (6,), (6,)))
def batch_norm_train(s, x, w, b):
    def forward(s, x, w, b):
        flat = x.transpose(0, 1).reshape(x.shape[1], -1)
        mean = flat.mean(-1)[:, None]
        rate = torch.rsqrt((flat - mean).square().mean(-1, keepdim=True) + 1e-5)
        return (x - mean) * (rate * w[:, None]) + b[:, None], (x, mean, rate, w)

    def backward(s, g, x, mean, rate, w):
        y, n = s((x - mean) * rate), x.shape[0] * x.shape[2]
        gb, gw = g.sum((0, 2)), (g * y).sum((0, 2))
        return w[:, None] * rate * (g - gb[:, None] / n - y * gw[:, None] / n), gw, gb

    return with_backward(forward, backward)(s, x, w, b)


def conv_bn_relu(x, k, w, b, mean, var):
    return torch.relu(F.batch_norm(F.conv2d(x, k, padding=1), mean, var, w, b))


@honest(
    conv_bn_relu,
    drawn((2, 4, 6, 6), (5, 4, 3, 3), (5,), (5,), (5,), (5,), positive=(5,)),
    gradients=False,
)
def conv_bn_relu_folded(s, x, k, w, b, mean, var):
    rate = w * torch.rsqrt(var + 1e-5)
    return torch.relu(s(F.conv2d(x, s(k * rate[:, None, None, None]), b - mean * rate, padding=1)))


@honest(lambda x, w: F.normalize(x, dim=-1) * w, drawn((6, 24), (24,)))
def l2_norm_scale(s, x, w):
    return s(x * torch.rsqrt(x.square().sum(-1, keepdim=True).clamp_min(1e-24))) * w
