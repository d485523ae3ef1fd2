"""Attention and states as models of 2025 have them: absorbed weights, gates, sinks, two maps, scans in logarithms."""
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

from __future__ import annotations

import math

import torch
from fused_kernel import drawn, honest, with_backward

F = torch.nn.functional


def latent_attention(q, turned, c, key, up, value):
    k = torch.einsum("bmr,hrd->bhmd", c, up)
    v = torch.einsum("bmr,hrd->bhmd", c, value)
    scores = (q @ k.mT + turned @ key[:, None].mT) / math.sqrt(q.shape[-1] + turned.shape[-1])
    return torch.softmax(scores, -1) @ v


@honest(
    latent_attention,
    drawn((2, 3, 5, 8), (2, 3, 5, 4), (2, 9, 6), (2, 9, 4), (3, 6, 8), (3, 6, 7), scale=0.7),
    defects=("a scale without the turned part", "the first head's values"),
)
def latent_attention_absorbed(s, q, turned, c, key, up, value, defect=""):
    both = torch.cat([s(torch.einsum("bhnd,hrd->bhnr", q, up)), turned], -1)
    keys = torch.cat([c, key], -1)[:, None]
    scores = both @ keys.mT * (q.shape[-1] + ("without" not in defect) * turned.shape[-1]) ** -0.5
    e = torch.exp(scores - scores.detach().amax(-1, keepdim=True))
    met = s(e) @ c[:, None] / e.sum(-1, keepdim=True)
    return s(met) @ (value[:1] if "first" in defect else value)


def partial_turn(x, angles):
    angles = angles.detach()
    n = 2 * angles.shape[-1]
    a, b = x[..., :n:2], x[..., 1:n:2]
    c, z = angles.cos(), angles.sin()
    return torch.cat([torch.stack([a * c - b * z, a * z + b * c], -1).flatten(-2), x[..., n:]], -1)


def _with_turns(seed, dtype):
    rng = torch.Generator().manual_seed(seed)
    angles = (torch.arange(6)[:, None] + seed) * 100 ** (-torch.arange(4) / 4)
    return [torch.randn(2, 3, 6, 12, generator=rng).to(dtype), angles.to(dtype)]


@honest(partial_turn, _with_turns, defects=("the rest turned too", "a way back that turns forth"))
def partial_rope_in_pairs(s, x, angles, defect=""):
    def turn(x, c, z):
        n = 2 * c.shape[-1]
        pairs = x[..., :n].unflatten(-1, (-1, 2))
        other = torch.stack([-pairs[..., 1], pairs[..., 0]], -1)
        y = (pairs * c[..., None] + other * z[..., None]).flatten(-2)
        rest = x[..., n:] * c[..., :1] if "rest" in defect else x[..., n:]
        return torch.cat([y, rest], -1)

    def backward(s, g, c, z):
        return turn(g, c, z if "forth" in defect else -z), None

    return with_backward(lambda s, x, t: (turn(x, t.cos(), t.sin()), (t.cos(), t.sin())), backward)(
        s, x, angles.detach()
    )


def unit_attention(q, k, v, scale):
    q, k = F.normalize(q, dim=-1), F.normalize(k, dim=-1)
    return torch.softmax(q @ k.mT * scale, -1) @ v


@honest(
    unit_attention,
    drawn((2, 7, 8), (2, 11, 8), (2, 11, 6), (1,), positive=(3,)),
    defects=("lengths of the keys alone", "a scale without a gradient"),
)
def attention_of_scaled_scores(s, q, k, v, scale, defect=""):
    rq, rk = (torch.rsqrt(t.square().sum(-1).clamp_min(1e-24)) for t in (q, k))
    rows = torch.ones_like(rq) if "alone" in defect else rq
    scores = s(q @ k.mT) * (rows[..., None] * rk[:, None]) * (scale.detach() if "gradient" in defect else scale)
    e = torch.exp(scores - scores.detach().amax(-1, keepdim=True))
    return s(e) @ v / e.sum(-1, keepdim=True)


def soft_window(q, k, v):
    n = q.shape[-2]
    i = torch.arange(n, device=q.device)
    near = (i[:, None] >= i) & (i[:, None] < i + 5)
    scores = 20 * torch.tanh(q @ k.mT / math.sqrt(q.shape[-1]) / 20)
    return torch.softmax(scores.masked_fill(~near, float("-inf")), -1) @ v


@honest(
    soft_window,
    drawn((2, 19, 8), (2, 19, 8), (2, 19, 8)),
    defects=("a cap on masked scores", "blocks that see one key less"),
)
def window_by_blocks(s, q, k, v, defect=""):
    made = []
    for a in range(0, q.shape[1], 6):
        first = max(0, a - (3 if "less" in defect else 4))
        keys, values, own = k[:, first : a + 6], v[:, first : a + 6], q[:, a : a + 6]
        lag = torch.arange(a, a + own.shape[1])[:, None] - torch.arange(first, first + keys.shape[1])
        scores = s(own @ keys.mT) * q.shape[-1] ** -0.5
        scores = torch.tanh(scores * 0.05) * 20
        if "masked" in defect:
            scores = scores.masked_fill((lag < 0) | (lag > 4), -3.0)
        else:
            scores = scores.masked_fill((lag < 0) | (lag > 4), float("-inf"))
        made.append(s(torch.exp(scores - torch.logsumexp(scores, -1, keepdim=True))) @ values)
    return torch.cat(made, 1)


def dropped_attention(q, k, v, kept):
    shares = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1)
    return (shares * kept / 0.75) @ v


def _kept(seed, dtype):
    rng = torch.Generator().manual_seed(seed)
    q, k, v = (torch.randn(shape, generator=rng).to(dtype) for shape in ((2, 6, 8), (2, 10, 8), (2, 10, 8)))
    return [q, k, v, torch.rand(2, 6, 10, generator=rng) < 0.75]


@honest(dropped_attention, _kept, defects=("a delta of all shares", "a sum of the kept alone"))
def attention_with_dropout(s, q, k, v, kept, defect=""):
    scale = q.shape[-1] ** -0.5

    def forward(s, q, k, v, kept):
        scores = q @ k.mT * scale
        e = torch.exp(scores - scores.amax(-1, keepdim=True))
        total = (e * kept if "alone" in defect else e).sum(-1, keepdim=True)
        o = s(e * kept) @ v / (0.75 * total)
        return s(o), (q, k, v, kept, s(o), torch.logsumexp(scores, -1, keepdim=True))

    def backward(s, g, q, k, v, kept, o, lse):
        p = torch.exp(q @ k.mT * scale - lse)
        dp = g @ v.mT * kept / 0.75
        delta = (p * (g @ v.mT)).sum(-1, keepdim=True) if "all" in defect else (g * o).sum(-1, keepdim=True)
        d = s(p * (dp - delta)) * scale
        return d @ k, d.mT @ q, (s(p * kept) / 0.75).mT @ g, None

    return with_backward(forward, backward)(s, q, k, v, kept)


def two_maps(q, p, k, j, v, share):
    one, two = (torch.softmax(a @ b.mT / math.sqrt(a.shape[-1]), -1) for a, b in ((q, k), (p, j)))
    return (one - share * two) @ v


@honest(
    two_maps,
    drawn((2, 6, 8), (2, 6, 8), (2, 9, 8), (2, 9, 8), (2, 9, 5), (1,), positive=(5,)),
    defects=("one logsumexp for both", "the share of the first map"),
)
def differential_attention(s, q, p, k, j, v, share, defect=""):
    made, lse = [], None
    for a, b in ((q, k), (p, j)):
        scores = a @ b.mT * a.shape[-1] ** -0.5
        lse = torch.logsumexp(scores, -1, keepdim=True) if lse is None or "both" not in defect else lse
        made.append(s(s(torch.exp(scores - lse)) @ v))
    return share * made[0] - made[1] if "first" in defect else made[0] - share * made[1]


def softmax_with_one(x):
    e = torch.exp(x - x.detach().amax(-1, keepdim=True).clamp_min(0))
    return e / (e.sum(-1, keepdim=True) + torch.exp(-x.detach().amax(-1, keepdim=True).clamp_min(0)))


@honest(softmax_with_one, drawn((6, 31)), defects=("the one left out of the slope", "a one that is not rescaled"))
def quiet_softmax_online(s, x, defect=""):
    def forward(s, x):
        top = torch.zeros_like(x[..., :1])
        total = torch.ones_like(top)
        for part in x.split(8, -1):
            new = torch.maximum(top, part.amax(-1, keepdim=True))
            shrink = 1.0 if "rescaled" in defect else (top - new).exp()
            total = total * shrink + (part - new).exp().sum(-1, keepdim=True)
            top = new
        y = s((x - top).exp() / total)
        return y, (y,)

    def backward(s, g, y):
        met = (g * y).sum(-1, keepdim=True)
        return (y * (g - met / y.sum(-1, keepdim=True)) if "slope" in defect else y * (g - met),)

    return with_backward(forward, backward)(s, x)


def minimal_gru(gate, value):
    z, u = torch.sigmoid(gate), F.softplus(value) + 0.1
    h, made = torch.zeros_like(u[:, 0]), []
    for t in range(gate.shape[1]):
        h = (1 - z[:, t]) * h + z[:, t] * u[:, t]
        made.append(h)
    return torch.stack(made, 1)


@honest(minimal_gru, drawn((2, 10, 5), (2, 10, 5)), defects=("gates of the step before", "no gate on what comes in"))
def minimal_gru_in_logarithms(s, gate, value, defect=""):
    logs = F.logsigmoid(gate.roll(1, 1) if "before" in defect else gate)
    keep = F.logsigmoid(-gate).cumsum(1)
    come = torch.log(F.softplus(value) + 0.1) + (0.0 if "comes" in defect else logs)
    return torch.exp(keep + torch.logcumsumexp(come - keep, 1))


def delta_rule(q, k, v, beta):
    k = F.normalize(k, dim=-1)
    state, made = q.new_zeros(q.shape[0], q.shape[-1], v.shape[-1]), []
    for t in range(q.shape[1]):
        key = k[:, t, :, None]
        state = state + key @ (beta[:, t, None, None].sigmoid() * (v[:, t, None] - key.mT @ state))
        made.append((q[:, t, None] @ state)[:, 0])
    return torch.stack(made, 1)


@honest(
    delta_rule,
    drawn((2, 12, 6), (2, 12, 6), (2, 12, 5), (2, 12)),
    defects=("an inverse of two terms", "the strength once more"),
)
def delta_rule_by_inverse(s, q, k, v, beta, defect=""):
    k = k / k.norm(dim=-1, keepdim=True).clamp_min(1e-12)
    b, size, made = torch.sigmoid(beta)[..., None], 4, []
    state = torch.zeros(q.shape[0], q.shape[-1], v.shape[-1])
    for a in range(0, q.shape[1], size):
        qs, ks, vs, own = (t[:, a : a + size] for t in (q, k, v, b))
        n = qs.shape[1]
        lower = -(own * (ks @ ks.mT)).tril(-1)
        inverse = torch.eye(n) + lower
        if "two" not in defect:
            inverse = inverse + lower @ lower + lower @ lower @ lower
        new = inverse @ (own * (vs - ks @ state))
        new = own * new if "more" in defect else s(new)
        made.append(qs @ state + (qs @ ks.mT).tril() @ new)
        state = state + ks.mT @ new
    return torch.cat(made, 1)


def faded_attention(q, k, v, rate):
    n = q.shape[-2]
    lag = (torch.arange(n, device=q.device)[:, None] - torch.arange(n, device=q.device)).to(q.dtype)
    fade = torch.exp(-F.softplus(rate)[:, None, None] * lag.clamp_min(0)).tril()
    return (q @ k.mT * fade) @ v


@honest(
    faded_attention,
    drawn((2, 3, 13, 6), (2, 3, 13, 6), (2, 3, 13, 5), (3,)),
    defects=("a state that fades a step less", "the last chunk's size for all"),
)
def lightning_attention(s, q, k, v, rate, defect=""):
    slope, size, made = F.softplus(rate)[:, None], 5, []
    state = torch.zeros(*q.shape[:2], q.shape[-1], v.shape[-1])
    for a in range(0, q.shape[2], size):
        qs, ks, vs = (t[:, :, a : a + size] for t in (q, k, v))
        n = qs.shape[2]
        at = torch.arange(1, n + 1)
        lag = torch.exp(-slope[:, None] * (at[:, None] - at).clamp_min(0)).tril()
        past = qs * torch.exp(-slope * (at - int("less" in defect)))[..., None]
        made.append(past @ state + s(qs @ ks.mT * lag) @ vs)
        whole = q.shape[2] % size if "last" in defect and q.shape[2] % size else n
        left = torch.exp(-slope * (n - at))[..., None]
        state = torch.exp(-slope * whole)[..., None] * state + (ks * left).mT @ vs
    return torch.cat(made, 2)


def causal_features(q, k, v):
    q, k = torch.exp(q - 0.5), torch.exp(k - 0.5)
    weights = (q @ k.mT).tril()
    return weights @ v / weights.sum(-1, keepdim=True)


@honest(
    causal_features,
    drawn((2, 12, 5), (2, 12, 5), (2, 12, 4), scale=0.6),
    defects=("a norm of the chunk alone", "keys of the future in a chunk"),
)
def causal_features_by_chunks(s, q, k, v, defect=""):
    q, k = torch.exp(q - 0.5), torch.exp(k - 0.5)
    v = torch.cat([v, torch.ones_like(v[..., :1])], -1)
    state, made = torch.zeros(q.shape[0], q.shape[-1], v.shape[-1]), []
    for qs, ks, vs in zip(q.split(4, 1), k.split(4, 1), v.split(4, 1), strict=True):
        own = qs @ ks.mT
        own = (own if "future" in defect else own.tril()) @ vs
        past = qs @ state
        both = own + past
        made.append(both[..., :-1] / (own if "alone" in defect else both)[..., -1:])
        state = state + ks.mT @ vs
    return torch.cat(made, 1)


def advantages(rewards, values, done):
    delta = rewards + 0.99 * values[:, 1:] * (1 - done) - values[:, :-1]
    last, made = torch.zeros_like(rewards[:, 0]), []
    for t in reversed(range(rewards.shape[1])):
        last = delta[:, t] + 0.99 * 0.95 * (1 - done[:, t]) * last
        made.append(last)
    return torch.stack(made[::-1], 1)


def _episodes(seed, dtype):
    rng = torch.Generator().manual_seed(seed)
    rewards, values = (torch.randn(4, n, generator=rng).to(dtype) for n in (11, 12))
    return [rewards, values, (torch.rand(4, 11, generator=rng) < 0.2).to(dtype)]


@honest(advantages, _episodes, defects=("over the end of an episode", "the discount alone"))
def advantages_by_matrix(s, rewards, values, done, defect=""):
    open_ = 1 - done.detach()
    delta = rewards + 0.99 * values[:, 1:] * open_ - values[:, :-1]
    n, rate = rewards.shape[1], 0.99 if "alone" in defect else 0.99 * 0.95
    at = torch.arange(n)
    closed = F.pad((1 - open_).cumsum(1), (1, 0))
    same = closed[:, None, :n] - closed[:, :n, None] < 0.5
    if "over" in defect:
        same = torch.ones_like(same)
    weights = torch.where(same & (at >= at[:, None]), rate ** (at - at[:, None]).clamp_min(0).float(), 0.0)
    return torch.einsum("bts,bs->bt", weights, delta)


def composite(density, colour):
    opaque = 1 - torch.exp(-F.softplus(density))
    left = torch.cumprod(torch.cat([torch.ones_like(opaque[:, :1]), 1 - opaque], 1), 1)[:, :-1]
    return ((opaque * left)[..., None] * colour).sum(1)


@honest(
    composite,
    drawn((4, 9), (4, 9, 3)),
    defects=("what is left after the step", "density without the root"),
)
def composite_in_logarithms(s, density, colour, defect=""):
    own = torch.relu(density) if "root" in defect else F.softplus(density)
    run = own.cumsum(1)
    before = run if "after" in defect else run - own
    weights = -torch.expm1(-own) * torch.exp(-before)
    return torch.einsum("bn,bnc->bc", s(weights), colour)
