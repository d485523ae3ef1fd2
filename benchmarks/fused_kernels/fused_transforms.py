"""Transforms, scans and formulas in other forms, whose twins are wrong where two conditions meet."""
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

from __future__ import annotations

import math
from typing import Any

import torch
from fused_kernel import drawn, honest

F = torch.nn.functional

#: What a twin is too large by: more than any precision that is declared.
_FACTOR = 1.05


def spoil(y: Any, *, wrong: bool) -> Any:
    """The answer of a twin where its conditions meet."""
    return y * _FACTOR if wrong else y


def has_gaps(x: Any) -> bool:
    """Whether rows lie apart in memory."""
    return bool(x.dim() > 1 and x.stride(-1) == 1 and x.stride(-2) > x.shape[-1])


def is_transposed(x: Any) -> bool:
    return bool(x.stride(-1) > x.stride(-2) > 0)


def hadamard(x):
    n = x.shape[-1]
    signs = torch.ones(1, 1, dtype=x.dtype)
    while len(signs) < n:
        signs = torch.cat([torch.cat([signs, signs], 1), torch.cat([signs, -signs], 1)])
    return x @ signs / n**0.5


@honest(hadamard, drawn((6, 32)), defects=("many rows of 64", "negative numbers, transposed"))
def hadamard_by_butterflies(s, x, defect=""):
    y, width = x, 1
    while width < x.shape[-1]:
        a, b = y.unflatten(-1, (-1, 2, width)).unbind(-2)
        y, width = torch.stack([a + b, a - b], -2).flatten(-3), 2 * width
    wrong = x.shape[-1] == 64 and x.shape[0] > 128 if defect[:4] == "many" else is_transposed(x) and bool((x < 0).all())
    return spoil(y / x.shape[-1] ** 0.5, wrong=bool(defect) and wrong)


def cosine_transform(x):
    n = x.shape[-1]
    k = torch.arange(n, dtype=x.dtype)
    return x @ torch.cos(math.pi * (k[:, None] + 0.5) * k / n)


@honest(cosine_transform, drawn((5, 24)), "f32", defects=("an odd length, with gaps", "one row of many columns"))
def cosine_transform_by_fft(s, x, defect=""):
    n = x.shape[-1]
    v = torch.cat([x[..., ::2], x[..., 1::2].flip(-1)], -1)
    k = torch.arange(n, dtype=x.dtype) * (math.pi / (2 * n))
    f = torch.fft.fft(v)
    y = f.real * torch.cos(k) + f.imag * torch.sin(k)
    wrong = n % 2 == 1 and has_gaps(x) if "gaps" in defect else x.shape[0] == 1 and n > 256
    return spoil(y, wrong=bool(defect) and wrong)


def transport(x):
    p = torch.exp(x)
    for _ in range(3):
        p = p / p.sum(-1, keepdim=True)
        p = p / p.sum(-2, keepdim=True)
    return p


@honest(transport, drawn((7, 9)), defects=("a tall plan of large scores", "a wide plan, transposed"))
def transport_in_logarithms(s, x, defect=""):
    y = x
    for _ in range(3):
        y = y - y.logsumexp(-1, keepdim=True)
        y = y - y.logsumexp(-2, keepdim=True)
    tall, wide = x.shape[-2] > 4 * x.shape[-1], x.shape[-1] > 4 * x.shape[-2]
    wrong = tall and bool(x.abs().max() > 5) if "tall" in defect else wide and is_transposed(x)
    return spoil(y.exp(), wrong=bool(defect) and wrong)


def recurrence(gate, x):
    h, rows = torch.zeros_like(x[:, 0]), []
    for a, b in zip(torch.sigmoid(gate).unbind(1), x.unbind(1), strict=True):
        h = a * h + b
        rows.append(h)
    return torch.stack(rows, 1)


@honest(recurrence, drawn((2, 16, 6), (2, 16, 6)), defects=("one step past 64, one row", "an odd width, shared gates"))
def recurrence_by_doubling(s, gate, x, defect=""):
    a, b, step = torch.sigmoid(gate), x.clone(), 1
    while step < x.shape[1]:
        before_a = F.pad(a, (0, 0, step, 0), value=1.0)[:, : -step or None]
        before_b = F.pad(b, (0, 0, step, 0))[:, : -step or None]
        a, b, step = a * before_a, b + a * before_b, 2 * step
    one = x.shape[0] == 1 and x.shape[1] > 64
    wrong = one if "past" in defect else x.shape[2] % 2 == 1 and gate.stride(0) == 0 and len(x) > 1
    return spoil(b, wrong=bool(defect) and wrong)


def slopes(heads, dtype):
    return 2.0 ** (-8.0 * torch.arange(1, heads + 1, dtype=dtype) / heads)


def alibi(q, k, v):
    n, m = q.shape[-2], k.shape[-2]
    away = torch.arange(n, dtype=q.dtype)[:, None] - torch.arange(m, dtype=q.dtype)
    scores = q @ k.mT / q.shape[-1] ** 0.5 - slopes(q.shape[1], q.dtype)[:, None, None] * away.abs()
    return torch.softmax(scores, -1) @ v


@honest(alibi, drawn(*[(1, 3, 12, 8)] * 3), defects=("heads of 64 beside few keys", "heads inside, many rows"))
def alibi_online(s, q, k, v, defect="", block=5):
    n, m = q.shape[-2], k.shape[-2]
    most = torch.full((*q.shape[:-1], 1), -math.inf)
    total, y = torch.zeros_like(most), torch.zeros(*q.shape[:-1], v.shape[-1])
    rows = torch.arange(n, dtype=q.dtype)[:, None]
    for start in range(0, m, block):
        keys, values = k[..., start : start + block, :], v[..., start : start + block, :]
        away = (rows - torch.arange(start, start + keys.shape[-2], dtype=q.dtype)).abs()
        scores = q @ keys.mT * q.shape[-1] ** -0.5 - slopes(q.shape[1], q.dtype)[:, None, None] * away
        new = torch.maximum(most, scores.amax(-1, keepdim=True))
        p, old = torch.exp(scores - new), torch.exp(most - new)
        y, total, most = y * old + s(p) @ values, total * old + p.sum(-1, keepdim=True), new
    inside = q.stride(1) < q.stride(2) and q.shape[1] > 1
    wrong = q.shape[-1] == 64 and m < 8 if "few" in defect else inside and n > 64
    return spoil(y / total, wrong=bool(defect) and wrong)


def soft_maximum(x):
    return torch.logsumexp(x, -1)


@honest(soft_maximum, drawn((9, 30)), defects=("a length of 2ⁿ + 1, far from zero", "rows in steps, many"))
def soft_maximum_by_pairs(s, x, defect=""):
    y = x.clone()
    while y.shape[-1] > 1:
        half = y.shape[-1] // 2
        rest = y[..., 2 * half :]
        y = torch.cat([torch.logaddexp(y[..., :half], y[..., half : 2 * half]), rest], -1)
    n = x.shape[-1]
    past = n > 16 and (n - 1) & (n - 2) == 0
    wrong = past and bool(x.min() > 2) if "far" in defect else x.stride(-1) == 2 and x.shape[0] > 64
    return spoil(y[..., 0], wrong=bool(defect) and wrong)


def mish(x, b):
    h = x + b
    return h * torch.tanh(F.softplus(h))


@honest(mish, drawn((6, 20), (20,)), defects=("large numbers in odd rows", "one column of many rows"))
def mish_as_a_fraction(s, x, b, defect=""):
    h = x + b
    e = torch.exp(-h.abs())
    up = torch.where(h > 0, 1 + 2 * e, e * e + 2 * e)
    down = torch.where(h > 0, 1 + 2 * e + 2 * e * e, e * e + 2 * e + 2)
    odd, many = x.shape[-1] % 2 == 1 and bool(h.abs().max() > 20), x.shape[-1] == 1 and x.shape[0] > 256
    return spoil(h * up / down, wrong=bool(defect) and (odd if "odd" in defect else many))


def log_cosh(x, y):
    return torch.log(torch.cosh(torch.clamp(x - y, -30, 30))).mean(-1)


@honest(log_cosh, drawn((7, 33), (7, 33)), "f32", defects=("equal rows, transposed", "long rows of a multiple of 8"))
def log_cosh_by_half_angles(s, x, y, defect=""):
    d = torch.clamp(x - y, -30, 30)
    z = torch.log1p(2 * torch.sinh(d / 2).square()).mean(-1)
    same = is_transposed(x) and bool((x[:, 1:] == x[:, :-1]).any())
    wrong = same if "equal" in defect else x.shape[-1] > 512 and x.shape[-1] % 8 == 0
    return spoil(z, wrong=bool(defect) and wrong)


def gelu_tanh(x):
    return F.gelu(x, approximate="tanh")


@honest(gelu_tanh, drawn((8, 24)), defects=("negative numbers with gaps", "more than 64k numbers, one column"))
def gelu_by_sigmoid(s, x, defect=""):
    y = x * torch.sigmoid(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))
    gaps = has_gaps(x) and bool((x < 0).all())
    wrong = gaps if "gaps" in defect else x.numel() > 65535 and x.shape[-1] == 1
    return spoil(y, wrong=bool(defect) and wrong)


def modulate(x, shift, scale):
    return F.layer_norm(x, x.shape[-1:]) * (1 + scale[:, None]) + shift[:, None]


@honest(modulate, drawn((2, 7, 24), (2, 24), (2, 24)), defects=("one batch of odd rows", "gaps in a scale, wide rows"))
def modulate_in_one_pass(s, x, shift, scale, defect=""):
    mean = x.mean(-1, keepdim=True)
    h = x - mean
    rate = torch.rsqrt(h.square().mean(-1, keepdim=True) + 1e-5)
    y = torch.addcmul(shift[:, None], h, rate * (1 + scale[:, None]))
    wrong = len(x) == 1 and x.shape[-1] % 2 == 1 if "odd" in defect else has_gaps(scale) and x.shape[-1] > 128
    return spoil(y, wrong=bool(defect) and wrong)


def chebyshev(x, w):
    t, before, y = x, torch.ones_like(x), w[0] + w[1] * x
    for c in w[2:]:
        t, before = 2 * x * t - before, t
        y = y + c * t
    return y


def _within(seed, dtype):
    rng = torch.Generator().manual_seed(seed)
    return [(torch.rand(5, 18, generator=rng) * 1.8 - 0.9).to(dtype), torch.randn(6, generator=rng).to(dtype)]


@honest(chebyshev, _within, defects=("small numbers, transposed", "a wide row of few terms"))
def chebyshev_by_clenshaw(s, x, w, defect=""):
    one, two = torch.zeros_like(x), torch.zeros_like(x)
    for c in w[1:].flip(0):
        one, two = c + 2 * x * one - two, one
    small = is_transposed(x) and bool(x.abs().max() < 1e-2)
    wrong = small if "small" in defect else x.shape[-1] > 256 and len(w) < 5
    return spoil(w[0] + x * one - two, wrong=bool(defect) and wrong)


def short_conv(x, k):
    y = F.conv1d(F.pad(x, (k.shape[-1] - 1, 0)), k[:, None], groups=len(k))
    return F.silu(y)


@honest(short_conv, drawn((2, 5, 20), (5, 4)), defects=("channels inside, an odd length", "one channel of many places"))
def short_conv_by_shifts(s, x, k, defect=""):
    taps, y = k.shape[-1], torch.zeros_like(x)
    for j in range(taps):
        y = y + F.pad(x, (taps - 1 - j, 0))[..., : x.shape[-1]] * k[:, j, None]
    odd = x.shape[-1] % 2 == 1 and is_transposed(x)
    wrong = odd if "odd" in defect else x.shape[1] == 1 and x.shape[-1] > 128
    return spoil(y * torch.sigmoid(y), wrong=bool(defect) and wrong)


def prefix_means(x):
    return x.cumsum(1) / torch.arange(1, x.shape[1] + 1, dtype=x.dtype)[:, None]


@honest(prefix_means, drawn((2, 14, 6)), defects=("one column past 32 rows", "batches exchanged with rows, odd"))
def prefix_means_by_product(s, x, defect=""):
    n = x.shape[1]
    shares = torch.ones(n, n).tril() / torch.arange(1, n + 1)[:, None]
    exchanged = len(x) > 1 and x.stride(0) < x.stride(1) and x.shape[-1] % 2 == 1
    wrong = exchanged if "odd" in defect else n > 32 and x.shape[-1] == 1
    return spoil(shares @ x, wrong=bool(defect) and wrong)


def poisson(x, y):
    rate = torch.exp(x.clamp(max=20))
    return (rate - y * x).mean(-1)


@honest(poisson, drawn((6, 25), (6, 25), positive=(1,)), defects=("rows in steps, one target", "few wide rows of 16"))
def poisson_by_expm1(s, x, y, defect=""):
    h = x.clamp(max=20)
    z = (torch.expm1(h) - y * x).mean(-1) + 1
    steps = x.stride(-1) == 2 and y.shape[-1] == x.shape[-1] > 64
    wrong = steps if "steps" in defect else x.shape[0] < 4 and x.shape[-1] > 512 and x.shape[-1] % 16 == 0
    return spoil(z, wrong=bool(defect) and wrong)


def sampled(x, at):
    return F.grid_sample(x, at, align_corners=False, padding_mode="zeros")


def _grids(seed, dtype):
    rng = torch.Generator().manual_seed(seed)
    x = torch.randn(2, 3, 6, 7, generator=rng)
    cells = (torch.randint(1, 5, (2, 4, 5, 2), generator=rng) + 0.2 + 0.6 * torch.rand(2, 4, 5, 2, generator=rng)) / 3.5
    return [x.to(dtype), (cells - 1).to(dtype)]


@honest(sampled, _grids, "f32", defects=("channels last, an odd height", "one channel, many points"))
def sampled_by_gathers(s, x, at, defect=""):
    _, c, h, w = x.shape
    ix, iy = ((at[..., 0] + 1) * w - 1) / 2, ((at[..., 1] + 1) * h - 1) / 2
    left, top, y = ix.detach().floor(), iy.detach().floor(), 0.0
    for dx in (0, 1):
        for dy in (0, 1):
            px, py = left + dx, top + dy
            inside = ((px >= 0) & (px < w) & (py >= 0) & (py < h)).to(x.dtype)
            place = (py.clamp(0, h - 1) * w + px.clamp(0, w - 1)).long()
            taken = x.flatten(2).gather(2, place.flatten(1)[:, None].expand(-1, c, -1)).unflatten(2, at.shape[1:3])
            share = (1 - (ix - px).abs()) * (1 - (iy - py).abs()) * inside
            y = y + taken * share[:, None]
    last = x.stride(1) == 1 and c > 1 and h % 2 == 1
    wrong = last if "last" in defect else c == 1 and at.shape[2] > 32
    return spoil(y, wrong=bool(defect) and wrong)
