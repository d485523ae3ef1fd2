"""Recurrences and scans."""

from __future__ import annotations

import torch
from fused_problems.shared import Problem, Wrong, wide

F = torch.nn.functional

# --- selective scan


def selective_scan(x, dt, a, b, c):
    state = torch.zeros(x.shape[1], a.shape[1])
    ys = []
    for t in range(x.shape[0]):
        step = F.softplus(dt[t])
        state = torch.exp(-step[:, None] * a.exp()) * state + (step * x[t])[:, None] * b[t]
        ys.append(state @ c[t])
    return torch.stack(ys)


def _scan_by_sums(x, dt, a, b, c, first=0):
    step = F.softplus(dt)
    decay = torch.cumsum(-step[:, :, None] * a.exp(), 0)
    rows = []
    for t in range(x.shape[0]):
        left = torch.exp(decay[t] - decay[first : t + 1])
        rows.append((left * (step * x)[first : t + 1, :, None] * b[first : t + 1, None] * c[t]).sum((0, 2)))
    return torch.stack(rows)


def _scan_by_segments(x, dt, a, b, c):
    step = F.softplus(dt)
    part = -step[:, :, None] * a.exp()
    rows = []
    for t in range(x.shape[0]):
        left = torch.stack([part[s + 1 : t + 1].sum(0) for s in range(t + 1)]).exp()
        rows.append((left * (step * x)[: t + 1, :, None] * b[: t + 1, None] * c[t]).sum((0, 2)))
    return torch.stack(rows)


def _scan_by_state(x, dt, a, b, c):
    step = torch.log1p(torch.exp(-dt.abs())) + dt.clamp_min(0)
    states = [torch.zeros(x.shape[1]) for _ in range(a.shape[1])]
    ys = []
    for t in range(x.shape[0]):
        states = [s * torch.exp(-step[t] * a[:, n].exp()) + step[t] * x[t] * b[t, n] for n, s in enumerate(states)]
        ys.append(sum(s * c[t, n] for n, s in enumerate(states)))
    return torch.stack(ys)


SELECTIVE_SCAN = Problem(
    selective_scan,
    [(6, 5), (6, 5), (5, 3), (6, 3), (6, 3)],
    (wide(_scan_by_segments), wide(_scan_by_state)),
    {
        "first step forgotten": Wrong(
            wide(lambda *t: torch.cat([selective_scan(*t)[:1], _scan_by_sums(*t, first=1)[1:]]))
        ),
        # Of large sums the difference has no digits left: dA is off by more than its size.
        "decays by differences of sums": Wrong(wide(_scan_by_sums), beyond=True),
        "steps a hundredth too long": Wrong(wide(lambda x, dt, a, b, c: selective_scan(x, dt + 1e-2, a, b, c)), "bf16"),
        "no gradient of the decay": Wrong(wide(lambda x, dt, a, b, c: selective_scan(x, dt, a.detach(), b, c))),
    },
)

# --- gated recurrent units over steps


def gru(x, h, w, u, b, c):
    ys = []
    for t in range(x.shape[0]):
        z, r, n = (x[t] @ w.T + b).chunk(3, -1)
        zh, rh, nh = (h @ u.T + c).chunk(3, -1)
        z, r = torch.sigmoid(z + zh), torch.sigmoid(r + rh)
        h = (1 - z) * torch.tanh(n + r * nh) + z * h
        ys.append(h)
    return torch.stack(ys)


def _gru_ahead(x, h, w, u, b, c, inside=True, swapped=False):
    size = h.shape[-1]
    given = torch.einsum("tbi,oi->tbo", x, w) + b
    ys = []
    for g in given:
        s = torch.einsum("bi,oi->bo", h, u) + c
        gates = torch.sigmoid(g[:, : 2 * size] + s[:, : 2 * size])
        z, r = gates[:, :size], gates[:, size:]
        late = r * s[:, 2 * size :] if inside else r * (s[:, 2 * size :] - c[2 * size :]) + c[2 * size :]
        n = torch.tanh(g[:, 2 * size :] + late)
        h = torch.lerp(h, n, z) if swapped else n + z * (h - n)
        ys.append(h)
    return torch.stack(ys)


def _gru_joined(x, h, w, u, b, c):
    size, ys = h.shape[-1], []
    for t in range(x.shape[0]):
        both = torch.cat([x[t], h], -1) @ torch.cat([w, u], -1)[: 2 * size].T + (b + c)[: 2 * size]
        z, r = (0.5 + 0.5 * torch.tanh(0.5 * both)).split(size, -1)
        n = torch.tanh(x[t] @ w[2 * size :].T + b[2 * size :] + r * (h @ u[2 * size :].T + c[2 * size :]))
        h = n * (1 - z) + h * z
        ys.append(h)
    return torch.stack(ys)


GRU = Problem(
    gru,
    [(4, 2, 5), (2, 3), (9, 5), (9, 3), (9,), (9,)],
    (wide(_gru_ahead), wide(_gru_joined)),
    {
        "bias outside the reset": Wrong(wide(lambda *t: _gru_ahead(*t, inside=False))),
        "update gate the other way": Wrong(wide(lambda *t: _gru_ahead(*t, swapped=True))),
        "no gradient through time": Wrong(
            wide(
                lambda x, h, *t: torch.stack(
                    [gru(x[i : i + 1], y.detach(), *t)[0] for i, y in enumerate([h, *gru(x, h, *t)[:-1]])]
                )
            )
        ),
    },
)

# --- retention: a state of keys and values that decays


def retention(q, k, v):
    state, ys = torch.zeros(k.shape[-1], v.shape[-1]), []
    for t in range(q.shape[0]):
        state = 0.9 * state + k[t][:, None] * v[t]
        ys.append(q[t] @ state)
    return torch.stack(ys)


def _retention_parallel(q, k, v, rate=0.9, early=0):
    n = torch.arange(q.shape[0])
    apart = n[:, None] - n[None] - early
    return ((q @ k.T) * torch.where(apart >= 0, rate ** apart.clamp_min(0).float(), 0.0)) @ v


def _retention_chunks(q, k, v, size=3, forgets=False):
    state, ys = torch.zeros(k.shape[-1], v.shape[-1]), []
    for a, b, c in zip(q.split(size), k.split(size), v.split(size), strict=True):
        n = torch.arange(a.shape[0])
        past = a @ state * 0.9 ** (n[:, None] + 1.0)
        ys.append(past + _retention_parallel(a, b, c))
        kept = 0.9 ** (a.shape[0] - 1.0 - n)[:, None]
        state = (1.0 if forgets else 0.9 ** a.shape[0]) * state + (b * kept).T @ c
    return torch.cat(ys)


RETENTION = Problem(
    retention,
    [(7, 4), (7, 4), (7, 5)],
    (wide(_retention_parallel), wide(_retention_chunks)),
    {
        "a step behind": Wrong(wide(lambda *t: _retention_parallel(*t, early=1))),
        "state kept whole between chunks": Wrong(wide(lambda *t: _retention_chunks(*t, forgets=True))),
        "decay of 0.91": Wrong(wide(lambda *t: _retention_parallel(*t, rate=0.91)), "bf16"),
    },
)
