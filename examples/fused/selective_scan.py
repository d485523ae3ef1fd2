"""A selective scan (Mamba) that keeps no states: its backward runs the recurrence again, then back.

Broken: back in time the state's gradient decays by the step at hand, not by the one after it.
"""

import torch
from torch.nn import functional


def reference(x, dt, a, b, c):
    state, ys = x.new_zeros(a.shape), []
    for t in range(x.shape[0]):
        step = functional.softplus(dt[t])[:, None]
        state = torch.exp(step * a) * state + step * x[t][:, None] * b[t]
        ys.append(state @ c[t])
    return torch.stack(ys)


def inputs(seed, dtype):
    long, wide, states = 9, 5, 4
    return [
        torch.randn(long, wide, dtype=dtype),
        torch.randn(long, wide, dtype=dtype),
        -torch.rand(wide, states, dtype=dtype) - 0.1,
        torch.randn(long, states, dtype=dtype),
        torch.randn(long, states, dtype=dtype),
    ]


def states_of(x, step, a, b):
    """The state before every step, and after the last."""
    found = [x.new_zeros(a.shape)]
    for t in range(x.shape[0]):
        found.append(torch.exp(step[t] * a) * found[-1] + step[t] * x[t][:, None] * b[t])
    return found


class Scan(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dt, a, b, c, late):
        ctx.save_for_backward(x, dt, a, b, c)
        ctx.late = late
        found = states_of(x, functional.softplus(dt)[..., None], a, b)
        return torch.stack([s @ c[t] for t, s in enumerate(found[1:])])

    @staticmethod
    def backward(ctx, g):
        x, dt, a, b, c = ctx.saved_tensors
        step = functional.softplus(dt)[..., None]
        states = states_of(x, step, a, b)
        dx, ds, da, db, dc = (torch.zeros_like(v) for v in (x, dt, a, b, c))
        carried = torch.zeros_like(a)
        for t in reversed(range(x.shape[0])):
            dc[t] = g[t] @ states[t + 1]
            if ctx.late:
                carried = carried * torch.exp(step[t] * a)
            d = carried + g[t][:, None] * c[t]
            kept = torch.exp(step[t] * a)
            da += d * states[t] * kept * step[t]
            ds[t] = (d * (states[t] * kept * a + x[t][:, None] * b[t])).sum(-1)
            dx[t] = (d * step[t] * b[t]).sum(-1)
            db[t] = (d * step[t] * x[t][:, None]).sum(0)
            carried = d if ctx.late else d * kept
        return dx, ds * torch.sigmoid(dt), da, db, dc, None


def right(x, dt, a, b, c):
    return Scan.apply(x, dt, a, b, c, False)


def broken(x, dt, a, b, c):
    return Scan.apply(x, dt, a, b, c, True)
