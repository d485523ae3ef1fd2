"""Recurrences of language models: in chunks, by matrices, by an associative scan."""
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

from __future__ import annotations

import torch
from fused_kernel import drawn, honest, with_backward

F = torch.nn.functional


def gated_delta_rule(q, k, v, decay, beta):
    k = F.normalize(k, dim=-1)
    state, made = q.new_zeros(q.shape[0], q.shape[-1], v.shape[-1]), []
    for t in range(q.shape[1]):
        key = k[:, t, :, None]
        state = state * decay[:, t, None, None].sigmoid()
        new = beta[:, t, None, None].sigmoid() * (v[:, t, None] - key.mT @ state)
        state = state + key @ new
        made.append((q[:, t, None] @ state)[:, 0])
    return torch.stack(made, 1)


@honest(
    gated_delta_rule,
    drawn((2, 14, 6), (2, 14, 6), (2, 14, 5), (2, 14), (2, 14)),
    defects=("no decay between chunks", "keys that see themselves"),
)
def delta_rule_chunks(s, q, k, v, decay, beta, defect=""):
    size, made = 8, []
    k = k * torch.rsqrt(k.square().sum(-1, keepdim=True).clamp_min(1e-24))
    logs, beta = F.logsigmoid(decay), torch.sigmoid(beta)
    state = torch.zeros(q.shape[0], q.shape[-1], v.shape[-1])
    for a in range(0, q.shape[1], size):
        qs, ks, vs, b = (t[:, a : a + size] for t in (q, k, v, beta))
        n, run = qs.shape[1], logs[:, a : a + size].cumsum(1)
        lag = (run[:, :, None] - run[:, None]).masked_fill(~torch.ones(n, n).tril().bool(), float("-inf"))
        lower = (b[..., None] * (ks @ ks.mT) * lag.exp()).tril(0 if "themselves" in defect else -1)
        seen = vs - run[..., None].exp() * (ks @ state)
        new = torch.linalg.solve_triangular(torch.eye(n) + lower, b[..., None] * seen, upper=False)
        made.append(run[..., None].exp() * (qs @ state) + (lag.exp() * (qs @ ks.mT)) @ new)
        kept = 1.0 if "decay" in defect else run[:, -1, None, None].exp()
        state = s(kept * state + ((run[:, -1:] - run).exp()[..., None] * ks).mT @ new)
    return torch.cat(made, 1)


def gated_linear_attention(q, k, v, gate):
    logs = F.logsigmoid(gate) / 4
    state, made = q.new_zeros(q.shape[0], q.shape[-1], v.shape[-1]), []
    for t in range(q.shape[1]):
        state = logs[:, t, :, None].exp() * state + k[:, t, :, None] * v[:, t, None]
        made.append((q[:, t, None] @ state)[:, 0])
    return torch.stack(made, 1)


@honest(
    gated_linear_attention,
    drawn((2, 14, 6), (2, 14, 6), (2, 14, 5), (2, 14, 6)),
    defects=("the step's own gate lost", "the last chunk without its past"),
)
def linear_attention_chunks(s, q, k, v, gate, defect=""):
    size, made = 8, []
    logs = F.logsigmoid(gate) / 4
    state = torch.zeros(q.shape[0], q.shape[-1], v.shape[-1])
    for a in range(0, q.shape[1], size):
        qs, ks, vs, run = q[:, a : a + size], k[:, a : a + size], v[:, a : a + size], logs[:, a : a + size].cumsum(1)
        own = run - logs[:, a : a + size] if "own" in defect else run
        past = (qs * own.exp()) @ state
        if "past" in defect and qs.shape[1] < size:
            past = past * 0
        # exp(own) and exp(-run) apart leave the range of float32 where a gate is -400.
        lag = (own[:, :, None] - run[:, None]).clamp(max=0.0).exp()
        shares = s(torch.einsum("btd,bsd,btsd->bts", qs, ks, lag)).tril()
        made.append(past + shares @ vs)
        state = s(run[:, -1, :, None].exp() * state + (ks * (run[:, -1:] - run).exp()).mT @ vs)
    return torch.cat(made, 1)


def selective_scan(x, dt, a, b, c, skip):
    dt, a = F.softplus(dt), -torch.exp(a)
    h, made = x.new_zeros(x.shape[0], x.shape[2], a.shape[1]), []
    for t in range(x.shape[1]):
        step = dt[:, t, :, None]
        h = torch.exp(step * a) * h + step * b[:, t, None] * x[:, t, :, None]
        made.append((h * c[:, t, None]).sum(-1) + skip * x[:, t])
    return torch.stack(made, 1)


@honest(
    selective_scan,
    drawn((2, 11, 4), (2, 11, 4), (4, 3), (2, 11, 3), (2, 11, 3), (4,)),
    defects=("softplus as relu past 1", "a doubling short"),
)
def selective_scan_by_doubling(s, x, dt, a, b, c, skip, defect=""):
    step = torch.maximum(dt, torch.zeros(())) + torch.log1p(torch.exp(-dt.abs()))
    if "relu" in defect:
        step = torch.where(dt > 1, dt, step)
    decay = torch.exp(step[..., None] * -torch.exp(a))
    h = step[..., None] * b[:, :, None] * x[..., None]
    lag, n = 1, x.shape[1]
    while lag < (n - 1 if "short" in defect and n > 8 else n) and not ("short" in defect and lag >= 8):
        before, less = F.pad(h, (0, 0, 0, 0, lag, 0))[:, :n], F.pad(decay, (0, 0, 0, 0, lag, 0), value=1.0)[:, :n]
        h, decay, lag = h + decay * before, decay * less, 2 * lag
    return s(torch.einsum("btdn,btn->btd", h, c)) + skip * x


def retention(q, k, v):
    n, heads = q.shape[-2], q.shape[1]
    logs = torch.log1p(-(2.0 ** (-3 - torch.arange(heads, device=q.device, dtype=q.dtype))))
    i = torch.arange(n, device=q.device, dtype=q.dtype)
    weights = torch.exp(logs[:, None, None] * (i[:, None] - i)).tril()
    return (q @ k.mT * q.shape[-1] ** -0.5 * weights) @ v


@honest(
    retention,
    drawn((2, 3, 13, 6), (2, 3, 13, 6), (2, 3, 13, 5)),
    "f32",
    defects=("one decay for all heads", "the scale at the first step alone"),
)
def retention_by_steps(s, q, k, v, defect=""):
    rates = 1 - 2.0 ** (-3 - torch.arange(0 if "all" in defect else q.shape[1], dtype=torch.float32))
    rates = rates if len(rates) else torch.full((q.shape[1],), 1 - 2.0**-3)
    state, made = torch.zeros(*q.shape[:2], q.shape[-1], v.shape[-1]), []
    for t in range(q.shape[2]):
        state = rates[:, None, None] * state + k[:, :, t, :, None] * v[:, :, t, None]
        scale = 1.0 if "first" in defect and t else q.shape[-1] ** -0.5
        made.append((q[:, :, t, None] * scale @ state)[:, :, 0])
    return torch.stack(made, 2)


def real_gated_unit(x, r, i, rate):
    logs = -8 * F.softplus(rate) * torch.sigmoid(r)
    gain = torch.sqrt(-torch.expm1(2 * logs))
    h, made = torch.zeros_like(x[:, 0]), []
    for t in range(x.shape[1]):
        h = logs[:, t].exp() * h + gain[:, t] * torch.sigmoid(i[:, t]) * x[:, t]
        made.append(h)
    return torch.stack(made, 1)


@honest(
    real_gated_unit,
    drawn((2, 12, 5), (2, 12, 5), (2, 12, 5), (5,), positive=(3,)),
    defects=("the gain of the decay itself", "the last step's gradient lost"),
)
def gated_unit_with_backward(s, x, r, i, rate, defect=""):
    logs = -8 * F.softplus(rate) * torch.sigmoid(r)
    decay = torch.exp(logs)
    gain = torch.sqrt(-torch.expm1((1 if "itself" in defect else 2) * logs))
    u = s(gain * torch.sigmoid(i) * x)

    def forward(s, decay, u):
        h, made = torch.zeros_like(u[:, 0]), []
        for t in range(u.shape[1]):
            h = torch.addcmul(u[:, t], decay[:, t], h)
            made.append(h)
        hs = torch.stack(made, 1)
        return hs, (decay, hs)

    def backward(s, g, decay, hs):
        n = g.shape[1]
        d, du, dd = torch.zeros_like(g[:, 0]), torch.zeros_like(g), torch.zeros_like(g)
        for t in reversed(range(n)):
            d = g[:, t] + (decay[:, t + 1] * d if t + 1 < n else 0)
            if "last" in defect and t == n - 1:
                d = d * 0
            du[:, t] = d
            dd[:, t] = d * hs[:, t - 1] if t else 0
        return dd, du

    return with_backward(forward, backward)(s, decay, u)


def token_shift(x, mix, w):
    before = F.pad(x, (0, 0, 1, 0))[:, :-1]
    return torch.relu((x + (before - x) * mix) @ w).square()


@honest(
    token_shift,
    drawn((2, 9, 8), (8,), (8, 6)),
    defects=("a mix the other way", "the first token shifted from the last"),
)
def token_shift_squared_relu(s, x, mix, w, defect=""):
    first = x[:, -1:] if "first" in defect else torch.zeros_like(x[:, :1])
    before = torch.cat([first, x[:, :-1]], 1)
    mixed = before + (x - before) * mix if "other" in defect else torch.lerp(x, before, mix)
    y = s(s(mixed) @ w)
    return torch.where(y > 0, y * y, 0.0)
