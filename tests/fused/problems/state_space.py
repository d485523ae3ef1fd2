"""Mamba-2's state space: the scan step by step, and in chunks by products of matrices."""

from __future__ import annotations

import math

import torch
from fused_problems.shared import Problem, Wrong, wide

F = torch.nn.functional


def state_space(x, dt, a, b, c):
    """x (l, h, p), dt (l, h), a (h,), b and c (l, n)."""
    step, state, ys = F.softplus(dt), torch.zeros(*x.shape[1:], b.shape[1]), []
    for t in range(x.shape[0]):
        state = state * torch.exp(-step[t] * a.exp())[:, None, None]
        state = state + (step[t, :, None] * x[t])[..., None] * b[t]
        ys.append(state @ c[t])
    return torch.stack(ys)


def _between(part):
    """Sums of what lies between two steps, (..., l, l): masked, then added, so that nothing cancels."""
    n = part.shape[-1]
    each = part[..., None].expand(*part.shape, n).masked_fill(torch.ones(n, n).triu().bool(), 0.0)
    return each.cumsum(-2).masked_fill(torch.ones(n, n).triu(1).bool(), -math.inf)


def _differences(part):
    sums, n = part.cumsum(-1), part.shape[-1]
    return (sums[..., :, None] - sums[..., None, :]).masked_fill(torch.ones(n, n).triu(1).bool(), -math.inf)


def chunked(x, dt, a, b, c, size=4, between=_between, fault=""):
    """Within a chunk a product of matrices, from chunk to chunk a state."""
    step = F.softplus(dt)
    state, ys = torch.zeros(*x.shape[1:], b.shape[1]), []
    for s, u, k, q in zip(
        step.split(size), (x * step[..., None]).split(size), b.split(size), c.split(size), strict=True
    ):
        decay = (-s * a.exp()).T
        left = between(decay).exp()
        inside = torch.einsum("tn,sn,hts,shp->thp", q, k, left, u)
        since = decay.cumsum(-1).exp()
        outside = torch.einsum("tn,hpn,ht->thp", q, state, since)
        until = left[:, -1]
        new = torch.einsum("sn,hs,shp->hpn", k, until, u)
        state = new + state * (1.0 if fault == "state kept" else since[:, -1, None, None])
        ys.append(inside + outside)
    return torch.cat(ys)


def _long_steps(seed, dtype):
    torch.manual_seed(seed)
    shapes = [(12, 1, 2), (12, 1), (1,), (12, 3), (12, 3)]
    return [(torch.randn(shape) + (5.0 if i == 1 else 0.0)).to(dtype) for i, shape in enumerate(shapes)]


STATE_SPACE = Problem(
    state_space,
    _long_steps,
    (
        wide(chunked),
        wide(lambda *t: chunked(*t, size=12)),
        # Sums of 40 are subtracted where a decay of 1 is asked for: the roundoff of a running sum, as chunks have it.
        wide(lambda *t: chunked(*t, size=12, between=_differences)),
    ),
    {
        "state of the chunk before kept whole": Wrong(wide(lambda *t: chunked(*t, fault="state kept"))),
    },
)
