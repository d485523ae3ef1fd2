"""Parts that are merged, states that are rescaled, powers of two, other associations: written before any was asked."""
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

from __future__ import annotations

import math

import torch
from fused_kernel import drawn, honest, labels, with_backward

F = torch.nn.functional


@honest(
    lambda x, w, b: F.layer_norm(x, x.shape[-1:], w, b, 1e-5),
    drawn((5, 44), (44,), (44,), positive=(1,)),
    defects=("means of blocks that weigh alike", "squares between the means left out"),
)
def layer_norm_of_merged_blocks(s, x, w, b, defect=""):
    count, mean, squares = 0, torch.zeros_like(x[..., :1]), torch.zeros_like(x[..., :1])
    for part in x.split(16, -1):
        n, own = part.shape[-1], part.mean(-1, keepdim=True)
        off, total = own - mean, count + n
        share = 0.5 if "alike" in defect and count else n / total
        between = 0.0 if "between" in defect else count * n / total
        squares = squares + (part - own).square().sum(-1, keepdim=True) + off * off * between
        mean, count = mean + off * share, total
    return (x - mean) * torch.rsqrt(squares / count + 1e-5) * w + b


@honest(lambda x: torch.softmax(x * 0.3, -1), drawn((6, 37)), defects=("a slope without the base",))
def softmax_by_powers_of_two(s, x, defect=""):
    def forward(s, x):
        z = x * (0.3 * math.log2(math.e))
        e = torch.exp2(z - z.amax(-1, keepdim=True))
        y = s(e / e.sum(-1, keepdim=True))
        return y, (y,)

    def backward(s, g, y):
        return (0.3 * math.log2(math.e) if defect else 0.3) * y * (g - (g * y).sum(-1, keepdim=True)), None

    return with_backward(forward, lambda s, g, y: backward(s, g, y)[:1])(s, x)


@honest(
    lambda q, k, v: torch.softmax(q @ k.mT * q.shape[-1] ** -0.5, -1) @ v,
    drawn((2, 7, 8), (2, 18, 8), (2, 18, 5)),
    defects=("a merge of equal weights", "a logsumexp that is not merged"),
)
def ring_attention(s, q, k, v, defect=""):
    out = logs = None
    for ks, vs in zip(k.split(6, 1), v.split(6, 1), strict=True):
        scores = q @ ks.mT * q.shape[-1] ** -0.5
        own = torch.logsumexp(scores, -1, keepdim=True)
        part = s(torch.exp(scores - own)) @ vs
        if out is None:
            out, logs = part, own
            continue
        share = 0.5 if "equal" in defect else torch.sigmoid(own - logs)
        out = out - share * (out - part)
        logs = logs if "not merged" in defect else logs - F.logsigmoid(logs - own)
    return s(out)


@honest(lambda a, b: F.silu(a) * b, drawn((6, 33), (6, 33)), defects=("half of the slope",))
def swiglu_by_tanh(s, a, b, defect=""):
    def forward(s, a, b):
        half = 0.5 * a
        return half * (1 + torch.tanh(half)) * b, (a, b)

    def backward(s, g, a, b):
        t = torch.tanh(0.5 * a)
        gate = 0.5 * (1 + t)
        slope = gate + (0.125 if defect else 0.25) * a * (1 + t) * (1 - t)
        return g * b * slope, g * a * gate

    return with_backward(forward, backward)(s, a, b)


@honest(
    lambda x, t: F.cross_entropy(x, t, reduction="none"),
    drawn((7, 30), labels(7, below=30)),
    defects=("the largest of the last shard", "the target's logit of its own shard alone"),
)
def cross_entropy_of_shards(s, x, t, defect=""):
    size = -(-x.shape[-1] // 3)
    shards = x.split(size, -1)
    most = torch.stack([p.detach().amax(-1) for p in shards])
    top = most[-1] if "last shard" in defect else most.amax(0)
    total = sum(torch.exp(p - top[:, None]).sum(-1) for p in shards)
    picked = torch.zeros_like(top)
    for i, p in enumerate(shards):
        inside = (t >= i * size) & (t < i * size + p.shape[-1])
        place = (t - i * size).clamp(0, p.shape[-1] - 1)
        own = p.gather(-1, place[:, None])[:, 0]
        picked = picked + (own * inside if not ("alone" in defect and i) else torch.zeros_like(own))
    return torch.log(total) + top - picked


def weighted_keys(decay, bonus, k, v):
    made = []
    for t in range(k.shape[1]):
        past = torch.arange(t, device=k.device, dtype=k.dtype)
        logs = k[:, :t] - (t - 1 - past)[:, None] * torch.exp(decay)
        logs = torch.cat([logs, (bonus + k[:, t])[:, None]], 1)
        made.append((torch.softmax(logs, 1) * v[:, : t + 1]).sum(1))
    return torch.stack(made, 1)


@honest(
    weighted_keys,
    drawn((4,), (4,), (2, 9, 4), (2, 9, 4)),
    defects=("the bonus kept in the state", "a decay too few"),
)
def wkv_by_running_maximum(s, decay, bonus, k, v, defect=""):
    above = below = torch.zeros_like(k[:, 0])
    top, made = torch.full_like(k[:, 0], -1e30), []
    for t in range(k.shape[1]):
        key, value = k[:, t], v[:, t]
        new = torch.maximum(top, bonus + key)
        old, own = torch.exp(top - new), torch.exp(bonus + key - new)
        made.append((old * above + own * value) / (old * below + own))
        faded = top if "few" in defect else top - torch.exp(decay)
        if "kept" in defect:
            key = key + bonus
        new = torch.maximum(faded, key)
        old, own = torch.exp(faded - new), torch.exp(key - new)
        above, below, top = old * above + own * value, old * below + own, new
    return torch.stack(made, 1)


def state_space_dual(x, logs, b, c):
    h, made = x.new_zeros(x.shape[0], b.shape[-1], x.shape[-1]), []
    for t in range(x.shape[1]):
        h = torch.exp(-F.softplus(logs[:, t]))[:, None, None] * h + b[:, t, :, None] * x[:, t, None]
        made.append((c[:, t, None] @ h)[:, 0])
    return torch.stack(made, 1)


@honest(
    state_space_dual,
    drawn((2, 13, 4), (2, 13), (2, 13, 3), (2, 13, 3)),
    defects=("a state that does not fade", "the diagonal left out"),
)
def state_space_dual_chunks(s, x, logs, b, c, defect=""):
    size, made, decay = 4, [], -F.softplus(logs)
    h = torch.zeros(x.shape[0], b.shape[-1], x.shape[-1])
    for a in range(0, x.shape[1], size):
        xs, bs, cs, run = (y[:, a : a + size] for y in (x, b, c, decay))
        run = run.cumsum(1)
        n = run.shape[1]
        open_ = torch.ones(n, n).tril(-1 if "diagonal" in defect else 0).bool()
        lag = (run[:, :, None] - run[:, None]).masked_fill(~open_, -math.inf).exp()
        made.append(s(cs @ bs.mT * lag) @ xs + run.exp()[..., None] * (cs @ h))
        faded = 1.0 if "fade" in defect else run[:, -1:, None].exp()
        h = s(faded * h + (bs * (run[:, -1:] - run).exp()[..., None]).mT @ xs)
    return torch.cat(made, 1)


def matrix_memory(q, k, v, i, f):
    run = F.logsigmoid(f).cumsum(1)
    n = q.shape[1]
    past = torch.ones(n, n, device=q.device).tril().bool()
    logs = (run[:, :, None] - run[:, None] + i[:, None]).masked_fill(~past, -math.inf)
    top = logs.detach().amax(-1, keepdim=True)
    weights = q @ k.mT * q.shape[-1] ** -0.5 * torch.exp(logs - top)
    norm = torch.maximum(weights.sum(-1, keepdim=True).abs(), torch.exp(-top))
    return weights @ v / norm


@honest(
    matrix_memory,
    drawn((2, 8, 6), (2, 8, 6), (2, 8, 4), (2, 8), (2, 8)),
    "f32",
    defects=("a norm of at least one", "an input gate without the maximum"),
)
def matrix_memory_by_steps(s, q, k, v, i, f, defect=""):
    memory = torch.zeros(q.shape[0], q.shape[-1], v.shape[-1])
    norm, top, made = torch.zeros(q.shape[0], q.shape[-1]), torch.full((q.shape[0],), -math.inf), []
    for t in range(q.shape[1]):
        fade = F.logsigmoid(f[:, t])
        new = torch.maximum(fade + top, i[:, t]).detach()
        old, own = torch.exp(fade + top - new), torch.exp(i[:, t] - (0.0 if "input" in defect else new))
        old = torch.zeros_like(old) if t == 0 else old
        key = k[:, t] * q.shape[-1] ** -0.5
        memory = old[:, None, None] * memory + own[:, None, None] * key[:, :, None] * v[:, t, None]
        norm, top = old[:, None] * norm + own[:, None] * key, new
        below = (norm * q[:, t]).sum(-1, keepdim=True).abs()
        least = torch.ones_like(new) if "one" in defect else torch.exp(-new)
        made.append((q[:, t, None] @ memory)[:, 0] / torch.maximum(below, least[:, None]))
    return torch.stack(made, 1)


def _orthogonalise(x):
    x = x / (x.norm() + 1e-7)
    for _ in range(3):
        a = x @ x.mT
        x = 3.4445 * x + (-4.775 * a + 2.0315 * a @ a) @ x
    return x


@honest(
    _orthogonalise,
    drawn((6, 9)),
    "f32",
    gradients=False,
    defects=("the cube's sign", "an iteration short"),
)
def orthogonalise_by_grams(s, x, defect=""):
    x = x * (1 / (torch.sqrt(x.square().sum()) + 1e-7))
    for _ in range(2 if "short" in defect else 3):
        gram = x @ x.mT
        once = gram @ x
        x = torch.addmm(3.4445 * x + (4.775 if "sign" in defect else -4.775) * once, gram, once, alpha=2.0315)
    return x


@honest(
    lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True),
    drawn((2, 6, 3, 8), (2, 2, 10, 8), (2, 2, 10, 8)),
    defects=("heads by turns", "the largest of the first head"),
)
def grouped_heads_as_rows(s, q, k, v, defect=""):
    b, h, n, d = q.shape
    g = k.shape[1]
    rows = q.reshape(b, h // g, g, n, d).transpose(1, 2) if "turns" in defect else q.reshape(b, g, h // g, n, d)
    scores = rows.reshape(b, g, -1, d) @ k.mT / math.sqrt(d)
    e = torch.exp(scores - scores.detach().amax(-1, keepdim=True))
    shares = s(e / (e[..., 1:] if "first" in defect else e).sum(-1, keepdim=True))
    y = (shares @ v).reshape(b, g, h // g, n, -1)
    return (y.transpose(1, 2) if "turns" in defect else y).reshape(b, h, n, -1)


@honest(
    lambda x: F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False),
    drawn((2, 3, 5, 7)),
    defects=("corners that are aligned",),
)
def upsample_by_two_products(s, x, defect=""):
    def weights(n):
        at = (torch.arange(2 * n) + 0.5) / 2 - 0.5
        at = (torch.arange(2 * n) * ((n - 1) / (2 * n - 1)) if defect else at).clamp(0, n - 1)
        low = at.floor().clamp(max=max(n - 2, 0)).long()
        made = torch.zeros(2 * n, n)
        rows = torch.arange(2 * n)
        made[rows, low] += 1 - (at - low)
        made[rows, (low + 1).clamp(max=n - 1)] += at - low
        return made

    return s(weights(x.shape[-2]) @ x) @ weights(x.shape[-1]).mT


@honest(lambda x: torch.logcumsumexp(x, -1), drawn((4, 23)), defects=("blocks that forget",))
def logcumsumexp_in_blocks(s, x, defect=""):
    before, made = torch.full_like(x[..., :1], -math.inf), []
    for part in x.split(8, -1):
        top = torch.maximum(part.detach().amax(-1, keepdim=True), before.detach())
        sums = torch.exp(part - top).cumsum(-1) + (0.0 if defect else torch.exp(before - top))
        y = torch.log(sums) + top
        made.append(y)
        before = y[..., -1:]
    return torch.cat(made, -1)


@honest(
    lambda p, q: F.kl_div(F.log_softmax(q, -1), F.log_softmax(p, -1), reduction="none", log_target=True).sum(-1),
    drawn((5, 24), (5, 24)),
    defects=("the teacher's shares unnormalised",),
)
def kl_by_mean_difference(s, p, q, defect=""):
    e = torch.exp(p - p.detach().amax(-1, keepdim=True))
    shares = e if defect else e / e.sum(-1, keepdim=True)
    return (shares * ((p - torch.logsumexp(p, -1, keepdim=True)) - (q - torch.logsumexp(q, -1, keepdim=True)))).sum(-1)
