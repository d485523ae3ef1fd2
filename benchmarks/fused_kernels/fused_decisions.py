"""What rounded numbers decide: masks, maxima and order behind products that are stored."""
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

from __future__ import annotations

import torch
from fused_kernel import drawn, honest, with_backward

F = torch.nn.functional


@honest(lambda x, w, b, v: torch.relu(x @ w + b) @ v, drawn((16, 32), (32, 48), (48,), (48, 24)))
def relu_mlp(s, x, w, b, v):
    return torch.relu(s(s(x @ w) + b)) @ v


@honest(lambda q, k, v: torch.relu(q @ k.mT / 4).square() @ v, drawn((2, 20, 16), (2, 20, 16), (2, 20, 16)))
def relu_attention(s, q, k, v):
    def forward(s, q, k, v):
        p = s(torch.relu(s(q @ k.mT * 0.25)))
        return s(p * p) @ v, (q, k, v, p)

    def backward(s, g, q, k, v, p):
        d = s(2 * p * (g @ v.mT)) * 0.25
        return d @ k, d.mT @ q, s(p * p).mT @ g

    return with_backward(forward, backward)(s, q, k, v)


def prune(x):
    p = torch.softmax(x, -1)
    return torch.where(p >= 1 / x.shape[-1], p, 0.0)


@honest(prune, drawn((12, 24)))
def prune_stored_shares(s, x):
    top = x.amax(-1, keepdim=True)
    e = (x - top).exp()
    p = s(e / e.sum(-1, keepdim=True))
    return torch.where(p >= 1 / x.shape[-1], p, 0.0)


@honest(lambda x, w, b: F.max_pool1d(F.conv1d(x, w, b), 2), drawn((2, 4, 17), (6, 4, 3), (6,)))
def conv_then_max_pool(s, x, w, b):
    y = s(s(torch.einsum("bcnk,ock->bon", x.unfold(2, 3, 1), w)) + b[:, None])
    n = y.shape[-1] // 2
    a, c = y[..., : 2 * n : 2], y[..., 1 : 2 * n : 2]
    return torch.where(a >= c, a, c)


@honest(lambda x, w, v: torch.maximum(x @ w, x @ v), drawn((12, 32), (32, 20), (32, 20)))
def maxout(s, x, w, v):
    a, b = s(x @ w), s(x @ v)
    return torch.where(a > b, a, b)


@honest(lambda x, w, y: (x @ w - y).abs().mean(), drawn((12, 32), (32, 20), (12, 20)))
def linear_l1(s, x, w, y):
    def forward(s, x, w, y):
        d = s(s(x @ w) - y)
        return d.abs().sum() / d.numel(), (x, w, torch.sign(d))

    def backward(s, g, x, w, sign):
        d = s(g * sign / sign.numel())
        return d @ w.mT, x.mT @ d, -d

    return with_backward(forward, backward)(s, x, w, y)


@honest(lambda x, w, y: torch.relu(1 - y.sign() * (x @ w)).mean(), drawn((16, 32), (32,), (16,)))
def linear_hinge(s, x, w, y):
    margin = s(1 - torch.sign(y) * s((x * w).sum(-1)))
    return torch.where(margin > 0, margin, 0.0).sum() / len(y)


def nearest(x, codes):
    at = torch.cdist(x, codes).argmin(-1)
    return codes[at], at


@honest(nearest, drawn((12, 8), (16, 8)))
def nearest_code_by_differences(s, x, codes):
    at = s((x[:, None] - codes).square().sum(-1)).argmin(-1)
    return codes[at], at


@honest(lambda x, w: F.hardswish(x @ w), drawn((12, 32), (32, 20)))
def linear_hardswish(s, x, w):
    y = s(x @ w)
    return s(y * (y + 3).clamp(0, 6)) / 6


def top_shares(x, w):
    shares = torch.softmax(0.1 * (x @ w), -1)
    top, at = shares.topk(3, -1)
    return torch.zeros_like(shares).scatter(-1, at, top / top.sum(-1, keepdim=True))


@honest(top_shares, drawn((16, 16), (16, 12)))
def gate_of_near_equal_shares(s, x, w):
    shares = s(torch.softmax(0.1 * s(x @ w), -1))
    top, at = shares.topk(3, -1)
    return torch.zeros_like(shares).scatter(-1, at, top / top.sum(-1, keepdim=True))


@honest(lambda x, w: torch.sort(x @ w, -1).values.cumsum(-1), drawn((8, 16), (16, 20)))
def sorted_sums(s, x, w):
    y = s(x @ w)
    return torch.cumsum(y.gather(-1, y.argsort(-1)), -1)


@honest(lambda x, w: F.leaky_relu(x @ w, 0.01).sum(-1), drawn((12, 32), (32, 20)))
def leaky_sum(s, x, w):
    y = s(x @ w)
    return torch.where(y > 0, y, 0.01 * y).sum(-1)
