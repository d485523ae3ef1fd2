"""Losses of alignment and retrieval, routers, unpacked weights, segments, steps of optimisers."""
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

from __future__ import annotations

import math

import torch
from fused_kernel import drawn, honest, labels, with_backward

F = torch.nn.functional


def preferences(chosen, rejected, a, b, base):
    own = torch.log_softmax(chosen, -1).gather(-1, a[:, None])[:, 0].sum()
    other = torch.log_softmax(rejected, -1).gather(-1, b[:, None])[:, 0].sum()
    return -F.logsigmoid(0.1 * (own - other) - base.detach())


@honest(
    preferences,
    drawn((6, 20), (6, 20), labels(6, below=20), labels(6, below=20), (1,)),
    defects=("the rejected's slope with the sign of the chosen", "a slope without beta"),
    grads={"base": None},
)
def preferences_with_backward(s, chosen, rejected, a, b, base, defect=""):
    def forward(s, chosen, rejected, a, b, base):
        lses = [torch.logsumexp(x, -1, keepdim=True) for x in (chosen, rejected)]
        parts = list(zip((chosen, rejected), (a, b), lses, strict=True))
        picked = [(x.gather(-1, t[:, None]) - lse).sum() for x, t, lse in parts]
        z = 0.1 * (picked[0] - picked[1]) - base
        slope = torch.sigmoid(-z) * (1.0 if "beta" in defect else 0.1)
        ds = []
        for x, t, lse in parts:
            ds.append(torch.exp(x - lse).scatter_add(1, t[:, None], -torch.ones(len(t), 1)) * slope)
        other = ds[1] if "sign" in defect else -ds[1]
        return torch.where(z > 0, torch.log1p(torch.exp(-z)), -z + torch.log1p(torch.exp(z))), (s(ds[0]), s(other))

    return with_backward(forward, lambda s, g, d, e: (g * d, g * e, None, None, None))(
        s, chosen, rejected, a, b, base.detach()
    )


@honest(
    lambda x: -(torch.softmax(x, -1) * torch.log_softmax(x, -1)).sum(-1),
    drawn((7, 26)),
    defects=("a slope without the entropy", "shares of a maximum before"),
)
def entropy_with_backward(s, x, defect=""):
    def forward(s, x):
        off = x - x.amax(-1, keepdim=True)
        total = off.exp().sum(-1, keepdim=True)
        logs = off - total.log()
        p = off.exp() if "before" in defect else logs.exp()
        y = -(p * logs).sum(-1)
        return y, (x, y, total.log() + x.amax(-1, keepdim=True))

    def backward(s, g, x, y, lse):
        logs = x - lse
        return (-g[:, None] * logs.exp() * (logs + (0.0 if "without" in defect else y[:, None])),)

    return with_backward(forward, backward)(s, x)


def class_focal(x, t):
    logs = torch.log_softmax(x, -1).gather(-1, t[:, None])[:, 0]
    return -((1 - logs.exp()).square() * logs).mean()


@honest(
    class_focal,
    drawn((9, 18), labels(9, below=18)),
    defects=("a slope of the logarithm alone", "the exponent one"),
)
def class_focal_with_backward(s, x, t, defect=""):
    def forward(s, x, t):
        lse = torch.logsumexp(x, -1, keepdim=True)
        shares = torch.exp(x - lse)
        logs = x.gather(1, t[:, None]) - lse
        own = logs.exp()
        # 1 - p of the own class, as the sum of the others.
        missed = shares.scatter(1, t[:, None], 0.0).sum(-1, keepdim=True)
        loss = -(missed if "exponent" in defect else missed * missed) * logs
        slope = missed * missed if "alone" in defect else missed * missed - 2 * own * missed * logs
        hot = F.one_hot(t, x.shape[1])
        d = torch.where(hot > 0, -missed, shares) * slope
        return loss.mean(), (s(d / len(x)),)

    return with_backward(forward, lambda s, g, d: (g * d, None))(s, x, t)


def routed(logits, bias):
    scores = torch.sigmoid(logits)
    at = (scores + bias.detach()).topk(3, -1).indices
    weights = scores.gather(-1, at)
    return weights / weights.sum(-1, keepdim=True) * 2.5, at


@honest(
    routed,
    drawn((10, 12), (12,)),
    "f32",
    defects=("weights with the bias", "a scale before the sum"),
    grads={"bias": None},
)
def route_by_sigmoid_with_bias(s, logits, bias, defect=""):
    scores = torch.sigmoid(logits)
    moved = scores.detach() + bias.detach()
    at = moved.argsort(-1, descending=True)[:, :3]
    weights = (scores + bias.detach() if "with" in defect else scores).gather(-1, at)
    total = 2.5 * weights.sum(-1, keepdim=True) if "before" in defect else weights.sum(-1, keepdim=True) / 2.5
    return weights / total, at


def balance(logits):
    shares = torch.softmax(logits, -1)
    n = logits.shape[-1]
    taken = F.one_hot(shares.topk(2, -1).indices, n).sum(1).to(logits.dtype).mean(0)
    return n * (taken * shares.mean(0)).sum()


@honest(balance, drawn((14, 6)), defects=("the second choice left out", "shares of the taken alone"))
def balance_by_counts(s, logits, defect=""):
    n = logits.shape[-1]
    at = logits.topk(1 if "second" in defect else 2, -1).indices
    counts = torch.zeros(n).scatter_add(0, at.flatten(), torch.ones(at.numel()))
    shares = torch.softmax(logits, -1)
    if "alone" in defect:
        shares = shares * torch.zeros_like(shares).scatter(-1, at, 1.0)
    return n / len(logits) ** 2 * (counts @ shares.sum(0))


def block_scaled(x, codes, scales):
    return x @ (codes.to(x.dtype).unflatten(-1, (-1, 4)) * scales[..., None]).flatten(-2).mT


def _codes(seed, dtype):
    rng = torch.Generator().manual_seed(seed)
    codes = torch.randint(-127, 128, (10, 16), generator=rng)
    scales = (torch.rand(10, 4, generator=rng) + 0.5) / 100
    return [torch.randn(5, 16, generator=rng).to(dtype), codes, scales.to(dtype)]


@honest(block_scaled, _codes, defects=("a scale of the block before", "scales by columns of the product"))
def block_scaled_product(s, x, codes, scales, defect=""):
    y = torch.zeros(x.shape[0], codes.shape[0])
    for j in range(scales.shape[1]):
        part = x[:, 4 * j : 4 * j + 4] @ codes[:, 4 * j : 4 * j + 4].float().mT
        y = y + part * (scales[:, 0] if "columns" in defect else scales[:, max(j - int("before" in defect), 0)])
    return y


def looked_up(x, codes, table, most):
    return x @ (table.detach()[codes] * most.detach()[:, None]).mT


def _nibbles(seed, dtype):
    rng = torch.Generator().manual_seed(seed)
    table = torch.linspace(-1, 1, 16) ** 3
    x, most = torch.randn(5, 12, generator=rng), torch.rand(9, generator=rng) + 0.5
    return [x.to(dtype), torch.randint(0, 16, (9, 12), generator=rng), table.to(dtype), most.to(dtype)]


@honest(
    looked_up,
    _nibbles,
    defects=("codes of the row above", "a table that is linear"),
    grads={"table": None, "most": None},
)
def looked_up_by_masks(s, x, codes, table, most, defect=""):
    codes = codes.roll(1, 0) if "above" in defect else codes
    table = torch.linspace(-1, 1, len(table)) if "linear" in defect else table.detach()
    y = sum(table[c] * (x @ (codes == c).float().mT) for c in range(len(table)))
    return y * most.detach()


def embedded(words, places, ids, w, b):
    h = words[ids] + places[: ids.shape[1]]
    return F.layer_norm(h, h.shape[-1:], w, b, 1e-5)


@honest(
    embedded,
    drawn((13, 8), (7, 8), labels(3, 6, below=13), (8,), (8,)),
    defects=("equal words overwrite", "places of one row"),
)
def embed_and_norm(s, words, places, ids, w, b, defect=""):
    def forward(s, words, places, ids, w, b):
        h = words[ids] + places[: ids.shape[1]]
        off = h - h.mean(-1, keepdim=True)
        rate = torch.rsqrt(off.square().mean(-1, keepdim=True) + 1e-5)
        return off * rate * w + b, (s(off * rate), rate, w, ids, words, places)

    def backward(s, g, h, rate, w, ids, words, places):
        d = g * w
        dh = rate * (d - d.mean(-1, keepdim=True) - h * (d * h).mean(-1, keepdim=True))
        flat = dh.flatten(0, 1)
        dw = torch.zeros_like(words)
        if "overwrite" in defect:
            dw[ids.flatten()] = flat
        else:
            dw = dw.index_add(0, ids.flatten(), flat)
        dp = torch.zeros_like(places)
        dp[: ids.shape[1]] = dh[0] if "one" in defect else dh.sum(0)
        return dw, dp, None, (g * h).sum((0, 1)), g.sum((0, 1))

    return with_backward(forward, backward)(s, words, places, ids, w, b)


def edge_shares(scores, values, to):
    n = 5
    top = torch.full((n,), -math.inf, dtype=scores.dtype, device=scores.device)
    top = top.scatter_reduce(0, to, scores.detach(), "amax")
    e = torch.exp(scores - top[to])
    total = torch.zeros(n, dtype=scores.dtype, device=scores.device).index_add(0, to, e)
    share = e / total[to]
    y = torch.zeros(n, values.shape[1], dtype=scores.dtype, device=scores.device)
    return y.index_add(0, to, share[:, None] * values)


@honest(
    edge_shares,
    drawn((16,), (16, 4), labels(16, below=5)),
    defects=("one maximum for all, its sum too", "a sum that is not divided"),
)
def edge_shares_by_masks(s, scores, values, to, defect=""):
    inside = torch.arange(5)[:, None] == to
    every = scores.masked_fill(~inside, -math.inf)
    top = every.detach().amax(-1, keepdim=True)
    e = torch.exp(every - torch.where(top.isfinite(), top, 0.0))
    total = e.sum() if "one" in defect else e.sum(-1, keepdim=True)
    if "divided" in defect:
        return s(e) @ values
    return s(e) @ values / torch.where(total > 0, total, 1.0)


def powers_pooled(x):
    return torch.exp(2 * torch.log(F.softplus(x) + 0.1)).mean(-1).sqrt()


@honest(powers_pooled, drawn((6, 5, 14)), defects=("a sum for a mean", "a slope of the root alone"))
def powers_pooled_by_squares(s, x, defect=""):
    own = F.softplus(x) + 0.1
    total = own.square().sum(-1)
    y = torch.sqrt(total if "sum" in defect else total / x.shape[-1])
    return y.detach() * 2 + y - 2 * y if "root" in defect else y


def by_class(x, t):
    x = F.normalize(x, dim=-1)
    scores = x @ x.mT / 0.2
    n = len(x)
    itself = torch.eye(n, dtype=torch.bool, device=x.device)
    logs = torch.log_softmax(scores.masked_fill(itself, -math.inf), -1)
    same = ((t[:, None] == t) & ~itself).to(x.dtype)
    return -(torch.where(same > 0, logs, 0.0).sum(-1) / same.sum(-1).clamp_min(1)).mean()


@honest(
    by_class,
    drawn((10, 8), labels(10, below=3)),
    defects=("each beside itself", "a mean over all pairs"),
)
def by_class_with_exclusion(s, x, t, defect=""):
    rate = torch.rsqrt(x.square().sum(-1, keepdim=True).clamp_min(1e-24))
    scores = 5 * s((x * rate) @ (x * rate).mT)
    others = torch.ones(len(x), len(x)) - torch.eye(len(x))
    top = scores.detach().masked_fill(others == 0, -math.inf).amax(-1, keepdim=True)
    top = torch.where(top.isfinite(), top, 0.0)
    kept = 1.0 if "itself" in defect else others
    total = (torch.exp((scores - top).clamp_max(50)) * kept).sum(-1, keepdim=True)
    lse = torch.log(torch.where(total > 0, total, 1.0)) + top
    same = (t[:, None] == t).float() * others
    logs = torch.where(same > 0, scores - lse, 0.0)
    if "all" in defect:
        return -logs.sum() / same.sum()
    return -(logs.sum(-1) / same.sum(-1).clamp_min(1)).sum() / len(x)


def redundancy(a, b):
    a, b = ((t - t.mean(0)) * torch.rsqrt(t.var(0, unbiased=False) + 1e-4) for t in (a, b))
    c = a.mT @ b / len(a)
    eye = torch.eye(c.shape[0], dtype=torch.bool, device=c.device)
    return torch.where(eye, (c - 1).square(), 0.01 * c.square()).sum()


@honest(redundancy, drawn((12, 6), (12, 6)), defects=("the diagonal weighed too", "sums of n - 1"))
def redundancy_of_products(s, a, b, defect=""):
    n = len(a) - int("n - 1" in defect)
    off = [t - t.sum(0) / len(t) for t in (a, b)]
    rates = [torch.rsqrt(t.square().sum(0) / n + 1e-4) for t in off]
    c = s(off[0].mT @ off[1]) * rates[0][:, None] * rates[1] / len(a)
    weights = torch.full_like(c, 0.01)
    if "diagonal" not in defect:
        weights = weights.fill_diagonal_(1.0)
    return (weights * (c - torch.eye(len(c))).square()).sum()


def ranked(scores, target):
    d = scores[:, :, None] - scores[:, None]
    better = (target[:, :, None] > target[:, None]).to(scores.dtype)
    return (F.softplus(-d) * better).sum((1, 2)).mean()


def _ranks(seed, dtype):
    rng = torch.Generator().manual_seed(seed)
    return [torch.randn(4, 9, generator=rng).to(dtype), torch.randint(0, 4, (4, 9), generator=rng)]


@honest(ranked, _ranks, defects=("equal ones are pairs", "a slope that is not taken off"))
def ranked_with_backward(s, scores, target, defect=""):
    def forward(s, scores, target):
        d = scores[:, :, None] - scores[:, None]
        order = target[:, :, None] - target[:, None]
        better = order >= 0 if "equal" in defect else order > 0
        loss = torch.where(better, torch.clamp_min(-d, 0) + torch.log1p(torch.exp(-d.abs())), 0.0)
        slope = s(torch.where(better, torch.sigmoid(-d), 0.0))
        taken = 0 if "off" in defect else slope.sum(1)
        return loss.sum() / len(scores), ((taken - slope.sum(2)) / len(scores),)

    return with_backward(forward, lambda s, g, d: (g * d, None))(s, scores, target)


def quantised(x, codes):
    at = (x[:, None] - codes.detach()).square().sum(-1).argmin(-1)
    return x + (codes[at] - x).detach(), (x - codes[at]).square().mean()


@honest(quantised, drawn((9, 6), (12, 6)), "f32", defects=("a gradient through the codes", "a mean over the codes"))
def quantised_straight_through(s, x, codes, defect=""):
    score = torch.stack([(x - c).square().sum(-1) for c in codes.detach()], -1)
    near = codes[score.min(-1).indices]
    loss = (near - x).square().sum() / (codes.numel() if "mean" in defect else x.numel())
    y = near.detach() + (x - x.detach()) * (2.0 if "through" in defect else 1.0)
    return y, loss


def lion(p, g, m):
    c = 0.9 * m + 0.1 * g
    return p * (1 - 0.01 * 0.1) - 0.01 * c.sign(), 0.99 * m + 0.01 * g


@honest(lion, drawn((6, 8), (6, 8), (6, 8)), "f32", gradients=False, defects=("the later mean's sign", "no decay"))
def lion_by_lerp(s, p, g, m, defect=""):
    c = torch.lerp(m, g, 0.01 if "later" in defect else 0.1)
    step = torch.where(c > 0, 0.01, torch.where(c < 0, -0.01, 0.0))
    return (p if "decay" in defect else p - p * 0.001) - step, torch.lerp(m, g, 0.01)


def factored(p, g, rows, columns):
    rows = 0.9 * rows + 0.1 * (g.square() + 1e-30).mean(-1)
    columns = 0.9 * columns + 0.1 * (g.square() + 1e-30).mean(-2)
    rate = torch.rsqrt(rows / rows.mean(-1, keepdim=True))[:, None] * torch.rsqrt(columns)
    update = g * rate
    update = update / (update.square().mean().sqrt() / 1.0).clamp_min(1.0)
    return p - 0.02 * update, rows, columns


@honest(
    factored,
    drawn((6, 8), (6, 8), (6,), (8,), positive=(2, 3)),
    "f32",
    gradients=False,
    defects=("no clip", "a clip of each row"),
)
def factored_moments(s, p, g, rows, columns, defect=""):
    g2 = g * g + 1e-30
    rows = torch.lerp(rows, g2.sum(-1) / g.shape[-1], 0.1)
    columns = torch.lerp(columns, g2.sum(0) / g.shape[0], 0.1)
    update = g * torch.sqrt(rows.mean() / rows)[:, None] / torch.sqrt(columns)
    size = torch.linalg.vector_norm(update, dim=-1 if "each" in defect else None, keepdim="each" in defect)
    n = g.shape[-1] if "each" in defect else g.numel()
    size = size * 0 if "no" in defect.split() else size
    return p - 0.02 * update / torch.clamp_min(size / math.sqrt(n), 1.0), rows, columns


@honest(
    lambda p, u: p - 0.01 * u * (p.norm() / u.norm().clamp_min(1e-6)).clamp(0, 10),
    drawn((5, 9), (5, 9)),
    "f32",
    gradients=False,
    defects=("a ratio of the squares", "no ratio"),
)
def step_by_trust_ratio(s, p, u, defect=""):
    ratio = (p * p).sum() / (u * u).sum().clamp_min(1e-12)
    if "no" in defect.split():
        ratio = torch.ones(())
    return torch.addcmul(p, u, (ratio if "squares" in defect else ratio.sqrt()).clamp_max(10), value=-0.01)


@honest(
    lambda x, y: torch.maximum(0.8 * (y - x), -0.2 * (y - x)).mean(),
    drawn((7, 11), (7, 11)),
    defects=("both shares alike",),
)
def pinball_by_halves(s, x, y, defect=""):
    d = s(y - x)
    return ((0.5 * d.abs() + (0.0 if defect else 0.3) * d).sum()) / d.numel()
