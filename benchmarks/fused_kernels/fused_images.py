"""Layers of images: convolutions as products and places, resizes by matrices, norms by parts, boxes in pairs."""
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

from __future__ import annotations

import torch
from fused_kernel import drawn, honest, with_backward

F = torch.nn.functional


@honest(
    lambda x, k, b: torch.relu(F.conv2d(x, k, b, padding=1)),
    drawn((2, 3, 6, 5), (4, 3, 3, 3), (4,)),
    defects=("rows for columns in the kernel", "an edge that is repeated"),
)
def conv_by_columns(s, x, k, b, defect=""):
    padded = F.pad(x, (1, 1, 1, 1), mode="replicate" if "edge" in defect else "constant")
    columns = padded.unfold(2, k.shape[2], 1).unfold(3, k.shape[3], 1)
    rows = columns.permute(0, 2, 3, 1, 4, 5).flatten(3)
    weights = (k.mT if "rows" in defect else k).flatten(1)
    return torch.relu(s(rows @ weights.mT) + b).permute(0, 3, 1, 2)


@honest(
    lambda x, k: F.conv2d(x, k, stride=2),
    drawn((2, 3, 8, 8), (5, 3, 2, 2)),
    defects=("channels after places",),
)
def conv_of_patches(s, x, k, defect=""):
    _, _, h, w = x.shape
    a, b = k.shape[2:]
    h, w = (h - a) // 2 + 1, (w - b) // 2 + 1
    parts = [x[:, :, i : i + 2 * h - 1 : 2, j : j + 2 * w - 1 : 2] for i in range(a) for j in range(b)]
    places = torch.stack(parts, 1 if "channels" in defect else 2).flatten(1, 2)
    return torch.einsum("nkhw,ok->nohw", places, k.flatten(1))


@honest(
    lambda x, k: F.conv_transpose2d(x, k, stride=2),
    drawn((2, 4, 4, 3), (4, 3, 3, 3)),
    defects=("places that overwrite", "a kernel that is turned"),
)
def transposed_conv_by_places(s, x, k, defect=""):
    n, _, h, w = x.shape
    columns = torch.einsum("nchw,coij->noijhw", x, k.flip(2, 3) if "turned" in defect else k)
    a, b = k.shape[2:]
    y = torch.zeros(n, k.shape[1], 2 * (h - 1) + a, 2 * (w - 1) + b)
    for i in range(a):
        for j in range(b):
            part = F.pad(columns[:, :, i, j], (0, 0)).unsqueeze(-1)
            wide = F.pad(part, (0, 1)).flatten(-2)[..., : 2 * w - 1].unsqueeze(-2)
            wide = F.pad(wide, (0, 0, 0, 1)).flatten(-3, -2)[..., : 2 * h - 1, :]
            put = F.pad(wide, (j, y.shape[3] - j - wide.shape[3], i, y.shape[2] - i - wide.shape[2]))
            y = torch.where(put != 0, put, y) if "overwrite" in defect else y + put
    return y


@honest(
    lambda x, k, g, b, m, v: F.hardswish(F.batch_norm(F.conv2d(x, k[:, None], groups=len(k), padding=1), m, v, g, b)),
    drawn((2, 4, 6, 5), (4, 3, 3), (4,), (4,), (4,), (4,), positive=(5,)),
    defects=("a mean that is not scaled", "a relu in its place"),
    grads={"m": None, "v": None},
)
def depthwise_norm_folded(s, x, k, g, b, m, v, defect=""):
    rate = g * torch.rsqrt(v.detach() + 1e-5)
    k, shift = k * rate[:, None, None], b - m.detach() * (1.0 if "mean" in defect else rate)
    padded, h, w = F.pad(x, (1, 1, 1, 1)), x.shape[2], x.shape[3]
    y = sum(
        padded[:, :, i : i + h + 3 - k.shape[1], j : j + w + 3 - k.shape[2]] * k[:, i, j, None, None]
        for i in range(k.shape[1])
        for j in range(k.shape[2])
    )
    y = s(y + shift[:, None, None])
    return torch.relu(y) if "relu" in defect else y * (y + 3).clamp(0, 6) / 6


@honest(
    lambda x, k: F.conv2d(
        x,
        (k - k.mean((1, 2, 3), keepdim=True)) * torch.rsqrt(k.var((1, 2, 3), unbiased=False, keepdim=True) + 1e-4),
    ),
    drawn((2, 3, 6, 5), (4, 3, 3, 3)),
    defects=("a variance of n - 1", "a mean without gradient"),
)
def standardised_conv(s, x, k, defect=""):
    flat = k.flatten(1)
    off = flat - (flat.mean(1, keepdim=True).detach() if "gradient" in defect else flat.mean(1, keepdim=True))
    n = flat.shape[1] - int("n - 1" in defect)
    weights = s(off / torch.sqrt(off.square().sum(1, keepdim=True) / n + 1e-4))
    patches = F.unfold(x, k.shape[2:])
    return (weights @ patches).unflatten(-1, (x.shape[2] - k.shape[2] + 1, x.shape[3] - k.shape[3] + 1))


@honest(
    lambda x, k: F.conv1d(F.pad(x, (4, 0)), k, dilation=2),
    drawn((2, 3, 12), (4, 3, 3)),
    defects=("a dilation of one", "a step ahead"),
)
def dilated_conv_as_product(s, x, k, defect=""):
    n, step = x.shape[-1], 1 if "one" in defect else 2
    lag = torch.arange(n)[:, None] - torch.arange(n) + int("ahead" in defect)
    taps = k.shape[-1]
    y = 0
    for j in range(taps):
        place = (lag == step * (taps - 1 - j) + 4 - 2 * (taps - 1)).float()
        y = y + k[:, :, j] @ (x @ place.mT)
    return y


def _cubic(n, m, dtype):
    at = (torch.arange(m, dtype=dtype) + 0.5) * n / m - 0.5
    low, made = at.floor(), torch.zeros(m, n, dtype=dtype)
    for j in range(-1, 3):
        d = (at - low - j).abs()
        near = ((1.25 * d - 2.25) * d) * d + 1
        far = ((-0.75 * d + 3.75) * d - 6) * d + 3
        place = (low.long() + j).clamp(0, n - 1)
        made.index_put_((torch.arange(m), place), torch.where(d <= 1, near, far), accumulate=True)
    return made


@honest(
    lambda x: F.interpolate(x, scale_factor=2, mode="bicubic", align_corners=False),
    drawn((2, 3, 5, 6)),
    defects=("edges of zeros", "one axis linear"),
)
def bicubic_by_products(s, x, defect=""):
    rows, columns = (_cubic(n, 2 * n, torch.float32) for n in x.shape[-2:])
    if "zeros" in defect:
        rows = rows * (torch.arange(rows.shape[1]) > 0)
    if "linear" in defect:
        columns = torch.where(columns < 0, 0.0, columns)
    return s(rows @ x) @ columns.mT


@honest(
    lambda x: F.adaptive_avg_pool2d(x, (3, 2)),
    drawn((2, 3, 8, 7)),
    defects=("windows that do not overlap",),
)
def adaptive_pool_by_products(s, x, defect=""):
    def weights(n, m):
        i, at = torch.arange(m)[:, None], torch.arange(n)
        end = (i + 1) * n // m if defect else -(-(i + 1) * n // m)
        inside = ((at >= i * n // m) & (at < end)).float()
        return inside / inside.sum(1, keepdim=True)

    return weights(x.shape[-2], 3) @ (x @ weights(x.shape[-1], 2).mT)


def _taps(like, n=5):
    at = torch.arange(n, device=like.device, dtype=like.dtype) - n // 2
    bell = torch.exp(-at.square() / 2)
    return bell / bell.sum()


def blur(x):
    bell = _taps(x)
    return F.conv2d(F.pad(x, (2, 2, 2, 2), mode="reflect").flatten(0, 1)[:, None], torch.outer(bell, bell)[None, None])


@honest(blur, drawn((2, 3, 7, 6)), defects=("a blur of one axis", "edges that are repeated"))
def blur_in_two_passes(s, x, defect=""):
    bell = _taps(x)
    padded = F.pad(x, (2, 2, 2, 2), mode="replicate" if "repeated" in defect else "reflect").flatten(0, 1)
    rows = s(padded.unfold(1, 5, 1) @ bell) if "one" not in defect else padded[:, 2:-2]
    return (rows.unfold(2, 5, 1) @ bell)[:, None]


def channel_norm(x, w, b):
    mean, var = x.mean(1, keepdim=True), x.var(1, unbiased=False, keepdim=True)
    return (x - mean) / torch.sqrt(var + 1e-6) * w[:, None, None] + b[:, None, None]


@honest(
    channel_norm,
    drawn((2, 8, 3, 4), (8,), (8,), positive=(1,)),
    defects=("weights' gradient of the first image", "a gradient without the mean's"),
)
def channel_norm_with_partial_sums(s, x, w, b, defect=""):
    def forward(s, x, w, b):
        off = x - x.mean(1, keepdim=True)
        rate = torch.rsqrt(off.square().mean(1, keepdim=True) + 1e-6)
        h = off * rate
        return h * w[:, None, None] + b[:, None, None], (h, rate, w)

    def backward(s, g, h, rate, w):
        d = g * w[:, None, None]
        own = 0 if "mean" in defect else d.mean(1, keepdim=True)
        dx = rate * (d - own - h * (d * h).mean(1, keepdim=True))
        parts = [(p * q).sum((0, 2, 3)) for p, q in zip(g.split(1), h.split(1), strict=True)]
        dw = parts[0] if "first" in defect else sum(parts)
        return dx, dw, g.sum((2, 3)).sum(0)

    return with_backward(forward, backward)(s, x, w, b)


@honest(
    lambda x, w, b, r: F.leaky_relu(F.instance_norm(x, weight=w, bias=b), 0.2) + r,
    drawn((2, 4, 5, 6), (4,), (4,), (2, 4, 5, 6)),
    defects=("one mean for all images", "halves that weigh alike"),
)
def instance_norm_of_halves(s, x, w, b, r, defect=""):
    flat = x.flatten(2)
    one, two = flat[..., :11], flat[..., 11:]
    n, m = one.shape[-1], two.shape[-1]
    if m == 0:
        one, two, m = flat, flat[..., :0], 0
    a, c = one.mean(-1, keepdim=True), (two.mean(-1, keepdim=True) if m else 0.0)
    share = m / (n + m) if "alike" not in defect else 0.5 * (m > 0)
    mean = a + (c - a) * share
    mean = mean.mean(0, keepdim=True) if "images" in defect else mean
    var = (flat - mean).square().sum(-1, keepdim=True) / flat.shape[-1]
    h = s((flat - mean) * torch.rsqrt(var + 1e-5)).unflatten(-1, x.shape[2:])
    y = s(h * w[:, None, None] + b[:, None, None])
    return torch.where(y > 0, y, 0.2 * y) + r


def response_norm(x, g, b):
    size = x.square().sum((1, 2), keepdim=True).sqrt()
    return x + g * (x * (size / (size.mean(-1, keepdim=True) + 1e-6))) + b


@honest(
    response_norm,
    drawn((2, 4, 5, 6), (6,), (6,)),
    defects=("a mean over places", "the residual twice"),
)
def response_norm_fused(s, x, g, b, defect=""):
    size = torch.linalg.vector_norm(x.flatten(1, 2), dim=1)
    mean = size.mean(0, keepdim=True) if "places" in defect else size.mean(-1, keepdim=True)
    rate = size / (mean + 1e-6)
    more = 2.0 if "twice" in defect else 1.0
    return torch.addcmul(b, x, more + g * rate[:, None, None])


@honest(
    lambda x, a, b: x * torch.sigmoid(torch.relu(x.mean((2, 3)) @ a) @ b)[..., None, None],
    drawn((2, 6, 4, 5), (6, 3), (3, 6)),
    defects=("a gate that gets no gradient", "a mean of the rows' ends"),
)
def squeeze_and_excite(s, x, a, b, defect=""):
    mean = x[..., -1].mean(2) if "ends" in defect else x.flatten(2).sum(2) / (x.shape[2] * x.shape[3])
    gate = torch.sigmoid(s(torch.relu(s(mean @ a)) @ b))
    return x * (gate.detach() if "gradient" in defect else gate)[..., None, None]


def overlaps(a, b):
    low, high = torch.maximum(a[:, None, :2], b[:, :2]), torch.minimum(a[:, None, 2:], b[:, 2:])
    met = (high - low).clamp_min(0).prod(-1)
    own, other = ((t[:, 2:] - t[:, :2]).prod(-1) for t in (a, b))
    return met / (own[:, None] + other - met)


def _boxes(seed, dtype):
    rng = torch.Generator().manual_seed(seed)
    made = []
    for n in (5, 7):
        low = torch.rand(n, 2, generator=rng) * 4
        made.append(torch.cat([low, low + 1 + 3 * torch.rand(n, 2, generator=rng)], -1).to(dtype))
    return made


@honest(overlaps, _boxes, "f32", defects=("the second's area twice", "sides that may be negative"))
def overlaps_by_columns(s, a, b, defect=""):
    x0, y0, x1, y1 = (t[:, None] for t in a.unbind(-1))
    p0, q0, p1, q1 = b.unbind(-1)
    wide = torch.where(x1 < p1, x1, p1) - torch.where(x0 > p0, x0, p0)
    high = torch.where(y1 < q1, y1, q1) - torch.where(y0 > q0, y0, q0)
    met = wide * high if "negative" in defect else torch.relu(wide) * torch.relu(high)
    both = (x1 - x0) * (y1 - y0) + (p1 - p0) * (q1 - q0) * (2.0 if "twice" in defect else 1.0)
    return met / (both - met)


def even_filter(x, k):
    return F.conv1d(x[:, None], k[None, None], padding=1)[:, 0]


@honest(even_filter, drawn((3, 12), (3,)), "f32", defects=("the sign of the third tap",))
def winograd_of_three_taps(s, x, k, defect=""):
    n = x.shape[-1]
    tiles = F.pad(x, (1, 2 + n % 2)).unfold(-1, 4, 2)
    a, b, c, d = tiles.unbind(-1)
    sign = -1.0 if defect else 1.0
    g0, g1, g2, g3 = k[0], (k[0] + k[1] + k[2]) / 2, (k[0] - k[1] + sign * k[2]) / 2, k[2]
    m0, m1, m2, m3 = (a - c) * g0, (b + c) * g1, (c - b) * g2, (b - d) * g3
    return torch.stack([m0 + m1 + m2, m1 - m2 - m3], -1).flatten(1)[:, :n]


@honest(
    lambda x, k: F.conv1d(F.pad(x, (k.shape[-1] - 1, 0)), k.flip(-1)[:, None], groups=k.shape[0]),
    drawn((2, 3, 14), (3, 9)),
    "f32",
    defects=("a circle",),
)
def long_conv_by_fft(s, x, k, defect=""):
    n = x.shape[-1] if defect else x.shape[-1] + k.shape[-1] - 1
    y = torch.fft.irfft(torch.fft.rfft(x, n) * torch.fft.rfft(k, n), n)
    return y[..., : x.shape[-1]]
