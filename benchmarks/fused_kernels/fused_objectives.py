"""Losses of training runs: with a z-loss, of policies, of distillation, of boxes and images."""
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

from __future__ import annotations

import torch
from fused_kernel import drawn, honest, labels, with_backward

F = torch.nn.functional


def smoothed_with_z(x, target):
    lse = torch.logsumexp(x, -1)
    return F.cross_entropy(x, target, label_smoothing=0.1) + 0.02 * lse.square().mean()


@honest(
    smoothed_with_z,
    drawn((9, 37), labels(9, below=37)),
    defects=("the z-loss without a gradient", "smoothing over n - 1 classes"),
)
def cross_entropy_z(s, x, target, defect=""):
    def forward(s, x, target):
        top, total = x.new_full((len(x), 1), float("-inf")), x.new_zeros(len(x), 1)
        for part in x.split(16, -1):
            new = torch.maximum(top, part.amax(-1, keepdim=True))
            total = total * (top - new).exp() + (part - new).exp().sum(-1, keepdim=True)
            top = new
        lse = top + total.log()
        n = x.shape[-1]
        eps = 0.1 / (n - ("n - 1" in defect))
        own = x.gather(1, target[:, None])
        loss = lse - 0.9 * own - eps * x.sum(-1, keepdim=True) + 0.02 * lse * lse
        slope = 1.0 if "without" in defect else 1 + 0.04 * lse
        d = (x - lse).exp() * slope - eps
        d = d.scatter_add(1, target[:, None], torch.full_like(own, -0.9)) / len(x)
        return loss.sum() / len(x), (s(d),)

    return with_backward(forward, lambda s, g, d: (g * d, None))(s, x, target)


def capped_cross_entropy(x, w, t):
    logits = 5 * torch.tanh(x @ w.mT / 5)
    return F.cross_entropy(logits, t, ignore_index=3)


@honest(
    capped_cross_entropy,
    drawn((11, 16), (30, 16), labels(11, below=30)),
    defects=("the cap's slope left out", "a mean over every row"),
)
def linear_cross_entropy_capped(s, x, w, t, defect=""):
    def forward(s, x, w, t):
        count = (t != 3).sum() if "every" not in defect else torch.tensor(len(t))
        loss, dx, dw = torch.zeros(()), [], torch.zeros_like(w)
        for a in range(0, len(x), 4):
            part, own, keep = x[a : a + 4], t[a : a + 4, None], (t[a : a + 4] != 3)[:, None]
            capped = torch.tanh(s(part @ w.mT) / 5)
            logits = 5 * capped
            lse = torch.logsumexp(logits, -1, keepdim=True)
            loss = loss + ((lse - logits.gather(1, own)) * keep).sum()
            d = (logits - lse).exp().scatter_add(1, own, -torch.ones(len(part), 1)) * keep / count
            d = s(d if "slope" in defect else d * (1 - capped * capped))
            dx.append(d @ w)
            dw = dw + d.mT @ part
        return loss / count, (s(torch.cat(dx)), s(dw))

    return with_backward(forward, lambda s, g, dx, dw: (g * dx, g * dw, None))(s, x, w, t)


def grpo(logits, ids, old, ref, advantages, mask):
    logp = torch.log_softmax(logits, -1).gather(-1, ids[..., None])[..., 0]
    ratio = torch.exp(logp - old)
    a = advantages[:, None]
    policy = -torch.minimum(ratio * a, ratio.clamp(0.8, 1.2) * a)
    kl = torch.exp(ref - logp) - (ref - logp) - 1
    return (((policy + 0.04 * kl) * mask).sum(-1) / mask.sum(-1).clamp(min=1)).mean()


def _rollouts(seed, dtype):
    rng = torch.Generator().manual_seed(seed)
    logits, ids = torch.randn(4, 7, 13, generator=rng), torch.randint(0, 13, (4, 7), generator=rng)
    logp = torch.log_softmax(logits, -1).gather(-1, ids[..., None])[..., 0]
    old, ref = (logp + 0.2 * torch.randn(4, 7, generator=rng) for _ in range(2))
    mask = (torch.arange(7) < torch.randint(3, 8, (4, 1), generator=rng)).to(dtype)
    return [logits.to(dtype), ids, old.to(dtype), ref.to(dtype), torch.randn(4, generator=rng).to(dtype), mask]


@honest(
    lambda logits, ids, old, ref, advantages, mask: grpo(
        logits, ids, old.detach(), ref.detach(), advantages.detach(), mask.detach()
    ),
    _rollouts,
    defects=("the larger of both", "a KL the other way", "a mean over all tokens"),
)
def grpo_loss(s, logits, ids, old, ref, advantages, mask, defect=""):
    old, ref, advantages, mask = (t.detach() for t in (old, ref, advantages, mask))

    def forward(s, logits, ids, old, ref, a, mask):
        lse = torch.logsumexp(logits, -1)
        logp = logits.gather(-1, ids[..., None])[..., 0] - lse
        ratio = torch.exp(logp - old)
        free, cut = ratio * a[:, None], ratio.clamp(0.8, 1.2) * a[:, None]
        chosen = torch.maximum(free, cut) if "larger" in defect else torch.minimum(free, cut)
        lag = logp - ref if "other" in defect else ref - logp
        kl = torch.expm1(lag) - lag
        weights = mask / mask.sum(-1, keepdim=True).clamp(min=1) / len(mask)
        if "all" in defect:
            weights = mask / mask.sum().clamp(min=1)
        inside = (ratio >= 0.8) & (ratio <= 1.2)
        moves = torch.where(free <= cut, True, inside)
        d = -torch.where(moves, free, 0.0) + 0.04 * -torch.expm1(ref - logp)
        return ((0.04 * kl - chosen) * weights).sum(), (logits, ids, lse, s(d * weights))

    def backward(s, g, logits, ids, lse, d):
        p = (logits - lse[..., None]).exp()
        rows = (F.one_hot(ids, logits.shape[-1]) - p) * d[..., None]
        return g * rows, None, None, None, None, None

    return with_backward(forward, backward)(s, logits, ids, old, ref, advantages, mask)


def jsd_beta(student, teacher):
    ls, lt = torch.log_softmax(student / 2, -1), torch.log_softmax(teacher.detach() / 2, -1)
    m = torch.log(0.3 * lt.exp() + 0.7 * ls.exp())
    return (0.3 * lt.exp() * (lt - m) + 0.7 * ls.exp() * (ls - m)).sum(-1).mean() * 4


@honest(
    jsd_beta,
    drawn((7, 19), (7, 19)),
    defects=("the temperature once", "shares of the teacher in the student's slope"),
)
def distillation_jsd(s, student, teacher, defect=""):
    def forward(s, x, y):
        ls, lt = torch.log_softmax(x / 2, -1), torch.log_softmax(y / 2, -1)
        p, q = ls.exp(), lt.exp()
        m = torch.log(torch.lerp(p, q, 0.3))
        loss = (0.3 * q * (lt - m) + 0.7 * p * (ls - m)).sum(-1)
        d = 0.7 * (q if "slope" in defect else p) * (ls - m)
        d = (d - p * d.sum(-1, keepdim=True)) / 2
        times = 2 if "once" in defect else 4
        return loss.mean() * times, (s(d * times / len(x)),)

    return with_backward(forward, lambda s, g, d: (g * d, None))(s, student, teacher.detach())


def _corners(seed, dtype):
    rng = torch.Generator().manual_seed(seed)
    made = []
    for _ in range(2):
        low, size = torch.rand(12, 2, generator=rng) * 2, torch.rand(12, 2, generator=rng) + 0.5
        made.append(torch.cat([low, low + size], -1).to(dtype))
    return made


def giou(a, b):
    area = lambda t: (t[:, 2] - t[:, 0]) * (t[:, 3] - t[:, 1])  # noqa: E731
    low, high = torch.maximum(a[:, :2], b[:, :2]), torch.minimum(a[:, 2:], b[:, 2:])
    both = (high - low).clamp(min=0).prod(-1)
    union = area(a) + area(b) - both
    hull = (torch.maximum(a[:, 2:], b[:, 2:]) - torch.minimum(a[:, :2], b[:, :2])).prod(-1)
    return 1 - both / (union + 1e-7) + (hull - union) / (hull + 1e-7)


@honest(giou, _corners, defects=("boxes that do not meet", "a hull without the second's end"))
def giou_by_columns(s, a, b, defect=""):
    ax, ay, ax2, ay2 = a.unbind(-1)
    bx, by, bx2, by2 = b.unbind(-1)
    w = torch.minimum(ax2, bx2) - torch.maximum(ax, bx)
    h = torch.minimum(ay2, by2) - torch.maximum(ay, by)
    if "meet" not in defect:
        w, h = torch.relu(w), torch.relu(h)
    both = s(w * h)
    union = s((ax2 - ax) * (ay2 - ay)) + s((bx2 - bx) * (by2 - by)) - both
    right = ax2 if "end" in defect else torch.maximum(ax2, bx2)
    hull = s((right - torch.minimum(ax, bx)) * (torch.maximum(ay2, by2) - torch.minimum(ay, by)))
    return 2 - both / (union + 1e-7) - (union + 1e-7) / (hull + 1e-7)


def _bell(like):
    at = torch.arange(5, dtype=like.dtype, device=like.device) - 2
    w = torch.exp(-at.square() / (2 * 1.5**2))
    return w / w.sum()


def ssim(x, y):
    w = _bell(x)
    kernel = (w[:, None] * w).expand(x.shape[1], 1, 5, 5)
    blur = lambda t: F.conv2d(t, kernel, groups=x.shape[1])  # noqa: E731
    mx, my = blur(x), blur(y)
    xx, yy, xy = blur(x * x) - mx * mx, blur(y * y) - my * my, blur(x * y) - mx * my
    c1, c2 = 0.01**2, 0.03**2
    return (((2 * mx * my + c1) * (2 * xy + c2)) / ((mx * mx + my * my + c1) * (xx + yy + c2))).mean((1, 2, 3))


def _images(seed, dtype):
    rng = torch.Generator().manual_seed(seed)
    x = torch.rand(2, 3, 11, 9, generator=rng)
    return [x.to(dtype), (x + 0.3 * torch.randn(x.shape, generator=rng)).to(dtype)]


@honest(ssim, _images, "f32", defects=("constants exchanged", "no blur across rows"))
def ssim_separable(s, x, y, defect=""):
    w = _bell(x)

    def blur(t):
        t = sum(w[i] * t[..., i : t.shape[-1] - 4 + i] for i in range(5))
        if "rows" in defect:
            return t[..., 2:-2, :]
        return sum(w[i] * t[..., i : t.shape[-2] - 4 + i, :] for i in range(5))

    mx, my, xy = blur(x), blur(y), blur(x * y)
    squares = blur(x * x + y * y)
    c1, c2 = (0.03**2, 0.01**2) if "exchanged" in defect else (0.01**2, 0.03**2)
    means, cross = mx * mx + my * my, mx * my
    value = (2 * cross + c1) / (means + c1) * ((2 * (xy - cross) + c2) / (squares - means + c2))
    return value.flatten(1).mean(1)


def distil(x, wx, y, wy):
    a, b = torch.log_softmax(x @ wx / 3, -1), torch.log_softmax((y @ wy).detach() / 3, -1)
    return F.kl_div(a, b, log_target=True, reduction="batchmean") * 9


@honest(
    distil,
    drawn((10, 12), (12, 20), (10, 16), (16, 20)),
    defects=("chunks that weigh alike", "the temperature left out of the slope"),
)
def linear_distillation_chunked(s, x, wx, y, wy, defect=""):
    def forward(s, x, wx, y, wy):
        loss, dx, dw = torch.zeros(()), [], torch.zeros_like(wx)
        for a in range(0, len(x), 4):
            part = x[a : a + 4]
            p, q = torch.log_softmax(s(part @ wx) / 3, -1), torch.log_softmax(s(y[a : a + 4] @ wy) / 3, -1)
            weight = 9 / len(x) if "alike" not in defect else 9 / len(part) / -(-len(x) // 4)
            loss = loss + (q.exp() * (q - p)).sum() * weight
            d = s((p.exp() - q.exp()) * weight / (1 if "slope" in defect else 3))
            dx.append(d @ wx.mT)
            dw = dw + part.mT @ d
        return loss, (s(torch.cat(dx)), s(dw))

    back = with_backward(forward, lambda s, g, dx, dw: (g * dx, g * dw, None, None))
    return back(s, x, wx, y.detach(), wy.detach())


def arc_margin(x, w, t):
    cos = F.normalize(x, dim=-1) @ F.normalize(w, dim=-1).mT
    cos = cos.clamp(-0.99, 0.99)
    own = F.one_hot(t, w.shape[0]).bool()
    return F.cross_entropy(8 * torch.where(own, torch.cos(torch.acos(cos) + 0.3), cos), t)


@honest(
    arc_margin,
    drawn((9, 12), (14, 12), labels(9, below=14)),
    defects=("the margin for every class", "the scale inside the cosine alone"),
)
def arc_margin_by_sine(s, x, w, t, defect=""):
    x = s(x / x.norm(dim=-1, keepdim=True).clamp_min(1e-12))
    w = s(w / w.norm(dim=-1, keepdim=True).clamp_min(1e-12))
    cos = s(x @ w.mT).clamp(-0.99, 0.99)
    turned = cos * 0.9553364891256060 - torch.sqrt(1 - cos * cos) * 0.2955202066613396
    own = torch.arange(w.shape[0]) == t[:, None]
    logits = 8 * turned if "every" in defect else 8 * torch.where(own, turned, cos)
    if "alone" in defect:
        logits = logits / 8
    return (torch.logsumexp(logits, -1) - logits.gather(1, t[:, None])[:, 0]).mean()
