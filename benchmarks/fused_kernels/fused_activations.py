"""Activations, gated and with a bias: recomputed backwards, masks that are saved."""
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

from __future__ import annotations

import torch
from fused_kernel import drawn, honest, with_backward

F = torch.nn.functional


def bias_gelu(x, b):
    return F.gelu(x + b, approximate="tanh")


def _gelu_slope(h):
    t = torch.tanh(0.79788456 * h * (1 + 0.044715 * h * h))
    return 0.5 * h * (1 - t * t) * (0.79788456 + 0.1070322243 * h * h) + 0.5 * (1 + t)


@honest(bias_gelu, drawn((8, 48), (48,)))
def bias_gelu_megatron(s, x, b):
    def forward(s, x, b):
        h = s(x + b)
        return h * 0.5 * (1.0 + torch.tanh(0.79788456 * h * (1 + 0.044715 * h * h))), (h,)

    def backward(s, g, h):
        d = s(g * _gelu_slope(h))
        return d, d.sum(0)

    return with_backward(forward, backward)(s, x, b)


@honest(lambda x, b: F.gelu(x + b), drawn((8, 48), (48,)))
def bias_gelu_erfc(s, x, b):
    h = s(x + b)
    return 0.5 * h * torch.erfc(-h * 0.70710678)


@honest(lambda x, r, b: torch.relu(x + b) + r, drawn((6, 40), (6, 40), (40,)))
def bias_relu_residual(s, x, r, b):
    def forward(s, x, r, b):
        h = s(x + b)
        return torch.where(h > 0, h, 0.0) + r, (h > 0,)

    def backward(s, g, kept):
        d = torch.where(kept, g, 0.0)
        return d, g, d.sum(0)

    return with_backward(forward, backward)(s, x, r, b)


@honest(lambda x, w: torch.relu(x @ w).square(), drawn((8, 32), (32, 24)))
def squared_relu_mlp(s, x, w):
    h = s(x @ w)
    return torch.relu(h) * torch.relu(h)


@honest(lambda a, b: F.silu(a) * b, drawn((6, 40), (6, 40)))
def swiglu(s, a, b):
    def forward(s, a, b):
        return s(a * torch.sigmoid(a)) * b, (a, b)

    def backward(s, g, a, b):
        sig = torch.sigmoid(a)
        silu = a * sig
        return g * (silu * (1 - sig) + sig) * b, g * silu

    return with_backward(forward, backward)(s, a, b)


@honest(lambda a, b: F.gelu(a, approximate="tanh") * b, drawn((6, 40), (6, 40)))
def geglu(s, a, b):
    def forward(s, a, b):
        return s(0.5 * a * (1 + torch.tanh(0.7978845608 * (a + 0.044715 * a**3)))) * b, (a, b)

    def backward(s, g, a, b):
        return g * b * _gelu_slope(a), g * s(0.5 * a * (1 + torch.tanh(0.7978845608 * (a + 0.044715 * a**3))))

    return with_backward(forward, backward)(s, a, b)


@honest(lambda x, gate, up, down: (F.silu(x @ gate) * (x @ up)) @ down, drawn((6, 32), (32, 24), (32, 24), (24, 32)))
def gated_mlp_packed(s, x, gate, up, down):
    a, b = s(x @ torch.cat([gate, up], 1)).chunk(2, -1)
    return s(s(a * torch.sigmoid(a)) * b) @ down


@honest(lambda x, w, b: torch.relu(x @ w + b), drawn((8, 40), (40, 24), (24,)))
def linear_relu_blocked(s, x, w, b):
    y = b.expand(x.shape[0], -1)
    for k in range(0, x.shape[1], 16):
        y = y + x[:, k : k + 16] @ w[k : k + 16]
    return torch.relu(s(y))


@honest(lambda x, w, b, y: x + torch.sigmoid(x @ w + b) * y, drawn((6, 24), (24, 24), (24,), (6, 24)))
def gated_residual(s, x, w, b, y):
    return torch.addcmul(x, s(torch.sigmoid(s(x @ w + b))), y)


@honest(lambda x, a, w, b: torch.tanh(a * x) * w + b, drawn((6, 33), (1,), (33,), (33,), positive=(1,)))
def dynamic_tanh(s, x, a, w, b):
    def forward(s, x, a, w, b):
        t = s(torch.tanh(a * x))
        return t * w + b, (x, t, a, w)

    def backward(s, g, x, t, a, w):
        d = g * w * (1 - t * t)
        return d * a, (d * x).sum().reshape(1), (g * t).sum(0), g.sum(0)

    return with_backward(forward, backward)(s, x, a, w, b)
