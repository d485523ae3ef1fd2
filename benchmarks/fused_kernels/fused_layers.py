"""Layers: rotations after norms, gates, bags, experts in groups, packed weights, steps of optimisers."""
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

from __future__ import annotations

import math
from itertools import pairwise

import torch
from fused_kernel import drawn, honest, labels, with_backward

F = torch.nn.functional


def normed_rotation(x, w, angles):
    h = F.rms_norm(x, x.shape[-1:], w, 1e-6)
    a, b = h.chunk(2, -1)
    c, z = angles.detach().cos(), angles.detach().sin()
    return torch.cat([a * c - b * z, b * c + a * z], -1)


def _with_angles(seed, dtype):
    rng = torch.Generator().manual_seed(seed)
    angles = (torch.arange(5)[:, None] + seed) * 100 ** (-torch.arange(4) / 4)
    x, w = torch.randn(2, 3, 5, 8, generator=rng), torch.rand(8, generator=rng) + 0.5
    return [x.to(dtype), w.to(dtype), angles.to(dtype)]


@honest(normed_rotation, _with_angles, defects=("eps outside of the root", "the way back turns forth"))
def qk_norm_rope(s, x, w, angles, defect=""):
    def forward(s, x, w, angles):
        mean, n = x.square().mean(-1, keepdim=True), x.shape[-1] // 2
        rate = 1 / (mean.sqrt() + 1e-6) if "root" in defect else torch.rsqrt(mean + 1e-6)
        h, c, z = s(x * rate) * w, angles.cos(), angles.sin()
        return torch.cat([h[..., :n] * c - h[..., n:] * z, h[..., n:] * c + h[..., :n] * z], -1), (x, rate, w, c, z)

    def backward(s, g, x, rate, w, c, z):
        n = x.shape[-1] // 2
        z = -z if "forth" in defect else z
        g = torch.cat([g[..., :n] * c + g[..., n:] * z, g[..., n:] * c - g[..., :n] * z], -1)
        h, m = x * rate, g * w
        return rate * (m - h * (m * h).mean(-1, keepdim=True)), (g * h).sum((0, 1, 2)), None

    return with_backward(forward, backward)(s, x, w, angles.detach())


def gated_norm(x, z, w):
    h = (x * F.silu(z)).unflatten(-1, (-1, 8))
    return (h * torch.rsqrt(h.square().mean(-1, keepdim=True) + 1e-5)).flatten(-2) * w


@honest(
    gated_norm,
    drawn((3, 5, 24), (3, 5, 24), (24,)),
    defects=("the gate after the norm", "one norm for all groups"),
)
def rms_norm_gated(s, x, z, w, defect=""):
    gate = z * torch.sigmoid(z)
    h = x if "after" in defect else s(x * gate)
    parts = h.reshape(*h.shape[:-1], -1, h.shape[-1] if "all" in defect else 8)
    rate = 1 / torch.sqrt(torch.linalg.vector_norm(parts, dim=-1, keepdim=True) ** 2 / parts.shape[-1] + 1e-5)
    y = (parts * rate).reshape(h.shape) * w
    return y * gate if "after" in defect else y


def clamped_glu(x):
    gate, up = x[..., ::2].clamp(max=1.0), x[..., 1::2].clamp(-1.0, 1.0)
    return gate * torch.sigmoid(1.702 * gate) * (up + 1)


@honest(clamped_glu, drawn((6, 5, 14)), defects=("a gradient through the clamp", "a gate that is clamped below too"))
def swiglu_clamped(s, x, defect=""):
    def forward(s, x):
        gate, up = x.unflatten(-1, (-1, 2)).unbind(-1)
        gate = gate.clamp(-1.0, 1.0) if "below" in defect else gate.clamp(max=1.0)
        return gate / (1 + torch.exp(-1.702 * gate)) * (up.clamp(-1.0, 1.0) + 1), (x,)

    def backward(s, g, x):
        gate, up = x[..., ::2], x[..., 1::2]
        a, b = gate.clamp(max=1.0), up.clamp(-1.0, 1.0)
        p = torch.sigmoid(1.702 * a)
        da, db = s(g * (b + 1)) * p * (1 + 1.702 * a * (1 - p)), g * a * p
        if "through" not in defect:
            da, db = da * (gate <= 1.0), db * ((up >= -1.0) & (up <= 1.0))
        return (torch.stack([da, db], -1).flatten(-2),)

    return with_backward(forward, backward)(s, x)


def weighted_bag(table, ids, weights):
    return (table[ids] * weights[..., None]).sum(1) / ids.shape[1]


@honest(
    weighted_bag,
    drawn((15, 8), labels(6, 5, below=15), (6, 5)),
    defects=("equal ids overwrite", "the weights' gradient without the mean"),
)
def embedding_bag_mean(s, table, ids, weights, defect=""):
    def forward(s, table, ids, weights):
        y = torch.bmm(weights[:, None], table[ids])[:, 0] / ids.shape[1]
        return y, (table, ids, weights)

    def backward(s, g, table, ids, weights):
        g = g / ids.shape[1]
        rows = s(weights[..., None] * g[:, None]).flatten(0, 1)
        gt = torch.zeros_like(table)
        gt = gt.index_copy(0, ids.flatten(), rows) if "equal" in defect else gt.index_add(0, ids.flatten(), rows)
        gw = torch.einsum("bd,bkd->bk", g, table[ids])
        return gt, None, gw * (ids.shape[1] if "without" in defect else 1)

    return with_backward(forward, backward)(s, table, ids, weights)


def grouped(x, w, ends):
    group = torch.searchsorted(ends, torch.arange(len(x), device=x.device), right=True).clamp(max=w.shape[0] - 1)
    return torch.einsum("nk,nkm->nm", x, w[group])


def _groups(seed, dtype):
    rng = torch.Generator().manual_seed(seed)
    ends = torch.randint(1, 23, (3,), generator=rng).sort().values
    return [torch.randn(23, 12, generator=rng).to(dtype), torch.randn(4, 12, 10, generator=rng).to(dtype), ends]


@honest(grouped, _groups, defects=("tails of tiles of 4", "the last group's gradient"))
def grouped_gemm(s, x, w, ends, defect=""):
    cuts = [0, *ends.tolist(), len(x)]
    made = []
    for g, (a, b) in enumerate(pairwise(cuts)):
        own = w[min(g, len(w) - 1)]
        if "last" in defect and g == len(ends):
            own = own.detach()
        y = sum(x[a:b, j : j + 5] @ own[j : j + 5] for j in range(0, x.shape[1], 5))
        if "tails" in defect and b - a > 4:
            y = torch.cat([y[: (b - a) // 4 * 4], torch.zeros_like(y[(b - a) // 4 * 4 :])])
        made.append(s(y))
    return torch.cat(made)


def combine(y, at, logits, residual):
    weights = torch.softmax(logits, -1)
    return residual + (y[at].reshape(*weights.shape, -1) * weights[..., None]).sum(1)


def _unsorted(seed, dtype):
    rng = torch.Generator().manual_seed(seed)
    y, logits, residual = (torch.randn(s, generator=rng).to(dtype) for s in ((14, 9), (7, 2), (7, 9)))
    return [y, torch.randperm(14, generator=rng), logits, residual]


@honest(combine, _unsorted, defects=("weights by the sorted place", "the weights' gradient of the first expert"))
def unpermute_and_combine(s, y, at, logits, residual, defect=""):
    e = (logits - logits.amax(-1, keepdim=True)).exp()
    weights = s(e / e.sum(-1, keepdim=True))
    if "first" in defect:
        weights = torch.cat([weights[:, :1], weights[:, 1:].detach()], 1)
    rows = torch.arange(len(residual)).repeat_interleave(weights.shape[1])
    own = weights.flatten()[at] if "sorted" in defect else weights.flatten()
    picked = y[at] * own[:, None]
    return residual.index_add(0, rows, picked)


def dropped_norm(x, b, r, mask, w):
    h = r + (x + b) * mask / 0.8
    return h, F.layer_norm(h, h.shape[-1:], w)


def _dropped(seed, dtype):
    rng = torch.Generator().manual_seed(seed)
    x, b, r, w = (torch.randn(s, generator=rng).to(dtype) for s in ((6, 20), (20,), (6, 20), (20,)))
    return [x, b, r, torch.rand(6, 20, generator=rng) < 0.8, w]


@honest(dropped_norm, _dropped, defects=("the scale missing on the way back", "a bias that is not dropped"))
def bias_dropout_add_norm(s, x, b, r, mask, w, defect=""):
    def forward(s, x, b, r, mask, w):
        kept = torch.where(mask, x if "not" in defect else x + b, 0.0) * 1.25
        h = s(r + kept + (b if "not" in defect else 0))
        var, mean = torch.var_mean(h, -1, correction=0, keepdim=True)
        rate = torch.rsqrt(var + 1e-5)
        return (h, (h - mean) * rate * w), (h, mean, rate, w, mask)

    def backward(s, gh, g, h, mean, rate, w, mask):
        y, m = (h - mean) * rate, g * w
        d = gh + rate * (m - m.mean(-1, keepdim=True) - y * (m * y).mean(-1, keepdim=True))
        dx = torch.where(mask, d, 0.0) * (1.0 if "missing" in defect else 1.25)
        return dx, dx.sum(0), d, None, (g * y).sum(0)

    return with_backward(forward, backward)(s, x, b, r, mask, w)


def quantised_linear(x, w):
    scale, size = x.abs().amax(-1, keepdim=True) / 127, w.abs().amax(0) / 127
    return (torch.round(x / scale) @ torch.round(w / size)) * scale * size


@honest(
    quantised_linear,
    drawn((7, 24), (24, 10)),
    "f32",
    gradients=False,
    defects=("one scale for all rows", "halves cut off"),
)
def int8_linear(s, x, w, defect=""):
    top = x.abs().amax() if "all" in defect else x.abs().amax(-1, keepdim=True)
    scale, size = top / 127, w.abs().amax(0) / 127
    cut = torch.trunc if "cut" in defect else torch.round
    a, b = cut(x / scale).to(torch.int32), torch.round(w / size).to(torch.int32)
    return (a[:, :, None] * b).sum(1).float() * scale * size


def unpacked_linear(x, packed, scales, zeros):
    low, high = packed & 15, packed >> 4
    q = torch.stack([low, high], 1).flatten(0, 1).to(x.dtype)
    group = torch.arange(q.shape[0], device=x.device) // 8
    return x @ ((q - zeros[group]) * scales[group])


def _packed_weights(seed, dtype):
    rng = torch.Generator().manual_seed(seed)
    packed = torch.randint(0, 256, (12, 10), generator=rng)
    x, scales = torch.randn(5, 24, generator=rng), torch.rand(3, 10, generator=rng) + 0.5
    return [x.to(dtype), packed, scales.to(dtype), torch.randint(0, 16, (3, 10), generator=rng).to(dtype)]


@honest(unpacked_linear, _packed_weights, gradients=False, defects=("halves exchanged", "zeros of the group before"))
def int4_linear(s, x, packed, scales, zeros, defect=""):
    parts = []
    for g in range(scales.shape[0]):
        rows = packed[4 * g : 4 * g + 4]
        q = torch.empty(2 * len(rows), rows.shape[1])
        q[::2], q[1::2] = (rows >> 4, rows & 15) if "exchanged" in defect else (rows & 15, rows >> 4)
        own = x[:, 8 * g : 8 * g + 2 * len(rows)]
        zero = zeros[max(g - 1, 0)] if "before" in defect else zeros[g]
        parts.append(s((own @ q - own.sum(-1, keepdim=True) * zero) * scales[g]))
    return sum(parts)


def adamw(p, g, m, v):
    p = p * (1 - 1e-2)
    m, v = m + (g - m) * 0.1, v * 0.99 + 0.01 * g * g
    return p - 0.1 * (m / (1 - 0.9**3)) / ((v / (1 - 0.99**3)).sqrt() + 1e-3), m, v


@honest(
    adamw,
    drawn((40,), (40,), (40,), (40,), positive=(3,)),
    gradients=False,
    defects=("eps inside of the root", "the correction of the second moment left out", "decay after the step"),
)
def adamw_fused(s, p, g, m, v, defect=""):
    m = 0.9 * m + 0.1 * g
    v = torch.addcmul(0.99 * v, g, g, value=0.01)
    p = p - 1e-2 * p * ("after" not in defect)
    root = math.sqrt(1 if "left" in defect else 1 - 0.99**3)
    down = (v / root**2 + 1e-3).sqrt() if "inside" in defect else v.sqrt() / root + 1e-3
    p = p - 0.1 / (1 - 0.9**3) * m / down
    return (p - 1e-2 * p if "after" in defect else p), m, v


def clipped(a, b, c):
    norm = torch.sqrt(sum(t.square().sum() for t in (a, b, c)))
    scale = (1.0 / (norm + 1e-6)).clamp(max=1.0)
    return a * scale, b * scale, c * scale, norm


@honest(clipped, drawn((5, 6), (17,), (3, 4, 2)), gradients=False, defects=("norms added", "no upper end"))
def clip_by_global_norm(s, a, b, c, defect=""):
    norms = torch.stack([torch.linalg.vector_norm(t) for t in (a, b, c)])
    norm = norms.sum() if "added" in defect else torch.linalg.vector_norm(norms)
    scale = 1.0 / (norm + 1e-6)
    scale = scale if "upper" in defect else torch.where(scale < 1, scale, 1.0)
    return a * scale, b * scale, c * scale, norm


def sparse_shares(x):
    z = x.sort(-1, descending=True).values
    k = torch.arange(1, x.shape[-1] + 1, device=x.device, dtype=x.dtype)
    run = z.cumsum(-1) - 1
    count = (k * z > run).sum(-1, keepdim=True)
    return torch.relu(x - run.gather(-1, count - 1) / count.to(x.dtype))


@honest(sparse_shares, drawn((8, 15)), defects=("a support of one more", "a slope of the whole row"))
def sparsemax(s, x, defect=""):
    def forward(s, x):
        z = (x - x.amax(-1, keepdim=True)).sort(-1, descending=True).values
        run, k = z.cumsum(-1), torch.arange(1, x.shape[-1] + 1)
        count = (1 + k * z > run).sum(-1, keepdim=True)
        if "more" in defect:
            count = (count + 1).clamp(max=x.shape[-1])
        tau = (run.gather(-1, count - 1) - 1) / count
        y = (x - x.amax(-1, keepdim=True) - tau).clamp_min(0)
        return y, (y,)

    def backward(s, g, y):
        inside = y > 0
        mean = (g * inside).sum(-1, keepdim=True) / inside.sum(-1, keepdim=True)
        return ((g - (g.mean(-1, keepdim=True) if "whole" in defect else mean)) * inside,)

    return with_backward(forward, backward)(s, x)


def separable_conv(x, depth, point, b):
    y = F.conv2d(x, depth[:, None], padding=1, groups=depth.shape[0])
    return F.gelu(F.conv2d(y, point[:, :, None, None], b), approximate="tanh")


@honest(
    separable_conv,
    drawn((2, 5, 6, 7), (5, 3, 3), (4, 5), (4,)),
    defects=("no edge at the right", "the filter turned"),
)
def separable_conv_gelu(s, x, depth, point, b, defect=""):
    padded = F.pad(x, (1, 1, 1, 1), mode="constant")
    if "edge" in defect:
        padded = torch.cat([padded[..., :-1], padded[..., -2:-1]], -1)
    if "turned" in defect:
        depth = depth.flip(-1)
    h, w = x.shape[2:]
    y = sum(depth[:, i, j, None, None] * padded[:, :, i : i + h, j : j + w] for i in range(3) for j in range(3))
    z = s(torch.einsum("bchw,oc->bohw", s(y), point) + b[:, None, None])
    return z * torch.sigmoid(2 * math.sqrt(2 / math.pi) * (z + 0.044715 * z**3))


def running_batch_norm(x, mean, var):
    n = x.shape[0] * x.shape[2]
    own, spread = x.mean((0, 2)), x.var((0, 2), correction=0)
    y = (x - own[:, None]) * torch.rsqrt(spread[:, None] + 1e-5)
    return y, mean * 0.9 + own * 0.1, var * 0.9 + spread * (n / (n - 1)) * 0.1


@honest(
    running_batch_norm,
    drawn((6, 5, 7), (5,), (5,), positive=(2,)),
    "f32",
    gradients=False,
    defects=("a running variance that is biased", "means of the halves left out"),
)
def sync_batch_norm(s, x, mean, var, defect=""):
    count, own, spread = 0, torch.zeros(x.shape[1]), torch.zeros(x.shape[1])
    for part in x.split(max(len(x) // 2, 1)):
        m, n = part.mean((0, 2)), part.shape[0] * part.shape[2]
        delta, all_ = m - own, count + n
        spread = spread + (part - m[:, None]).square().sum((0, 2))
        if "halves" not in defect:
            spread = spread + delta * delta * (count * n / all_)
        own, count = own + delta * n / all_, all_
    y = (x - own[:, None]) / torch.sqrt(spread / count + 1e-5)[:, None]
    unbiased = spread / (count if "biased" in defect else count - 1)
    return y, torch.lerp(mean, own, 0.1), torch.lerp(var, unbiased, 0.1)
