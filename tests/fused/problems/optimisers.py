"""Steps of optimisers."""

from __future__ import annotations

import torch
from fused_problems.shared import Problem, Wrong, wide

# --- a step of AdamW: parameters in the dtype under test, moments in float32


def adamw_step(p, g, m, v):
    g, w = g.to(m.dtype), p.to(m.dtype)
    m = 0.9 * m + 0.1 * g
    v = 0.95 * v + 0.05 * g * g
    w = w - 0.01 * (m / (1 - 0.9**3) / (torch.sqrt(v / (1 - 0.95**3)) + 1e-8) + 0.1 * w)
    return w.to(p.dtype), m, v


def _adamw_lerp(p, g, m, v, eps=1e-8, decay=0.1):
    g, w = g.float(), p.float()
    m, v = m.lerp(g, 0.1), v * 0.95 + (g * g) * 0.05
    root = v.sqrt() / (1 - 0.95**3) ** 0.5
    return (w * (1 - 0.01 * decay) - (0.01 / (1 - 0.9**3)) * m / (root + eps)).to(p.dtype), m, v


def _adamw_addcdiv(p, g, m, v):
    g, w = g.float(), p.float()
    m, v = (m * 0.9).add(g, alpha=0.1), (v * 0.95).addcmul(g, g, value=0.05)
    w = w * (1 - 0.01 * 0.1)
    return w.addcdiv(m, (v / (1 - 0.95**3)).sqrt() + 1e-8, value=-0.01 / (1 - 0.9**3)).to(p.dtype), m, v


def _adamw_rounded(*tensors):
    w, m, v = _adamw_lerp(*tensors)
    return w, m.bfloat16().float(), v


def _moments(seed, dtype):
    torch.manual_seed(seed)
    return [torch.randn(5, 9).to(dtype), torch.randn(5, 9).to(dtype), torch.randn(5, 9), torch.rand(5, 9) + 0.5]


ADAMW = Problem(
    adamw_step,
    _moments,
    (_adamw_lerp, _adamw_addcdiv),
    {
        "no decay of weights": Wrong(lambda *t: _adamw_lerp(*t, decay=0.0)),
        "gradient not squared": Wrong(
            lambda p, g, m, v: (*_adamw_lerp(p, g, m, v)[:2], 0.95 * v + 0.05 * g.float().abs())
        ),
        "moment in bf16": Wrong(_adamw_rounded, "bf16"),
    },
)

# --- a step of SGD with Nesterov's momentum, the gradient clipped by its norm


def nesterov_step(p, g, m):
    g = g * torch.clamp(0.5 / (g.square().sum().sqrt() + 1e-6), max=1.0) + 0.1 * p
    m = 0.9 * m + g
    return p - 0.05 * (g + 0.9 * m), m


def _nesterov_scaled(p, g, m, ahead=0.9, decay=0.1):
    size = torch.linalg.vector_norm(g)
    g = torch.where(size > 0.5, g * (0.5 / (size + 1e-6)), g) + decay * p
    fresh = m * 0.9 + g
    return p - 0.05 * g - 0.05 * ahead * fresh, fresh


def _nesterov_by_rows(p, g, m):
    size = sum((row * row).sum() for row in g).sqrt() + 1e-6
    shrink = 1 / torch.maximum(size / 0.5, torch.ones(()))
    pairs = [_one_row(*rows, shrink) for rows in zip(p, g, m, strict=True)]
    return torch.stack([a for a, _ in pairs]), torch.stack([b for _, b in pairs])


def _one_row(p, g, m, shrink):
    g = torch.addcmul(0.1 * p, g, shrink)
    m = torch.add(g, m, alpha=0.9)
    return p.sub(g.add(m, alpha=0.9), alpha=0.05), m


NESTEROV = Problem(
    nesterov_step,
    [(4, 7), (4, 7), (4, 7)],
    (wide(_nesterov_scaled), wide(_nesterov_by_rows)),
    {
        "momentum not ahead": Wrong(wide(lambda *t: _nesterov_scaled(*t, ahead=1.0))),
        "norm by row": Wrong(
            wide(
                lambda p, g, m: tuple(
                    map(torch.stack, zip(*(_nesterov_scaled(*r) for r in zip(p, g, m, strict=True)), strict=True))
                )
            )
        ),
        "no decay of weights": Wrong(wide(lambda *t: _nesterov_scaled(*t, decay=0.0)), "bf16"),
    },
)

# --- a step of centred RMSprop


def rmsprop_step(p, g, v, a):
    v, a = 0.9 * v + 0.1 * g * g, 0.9 * a + 0.1 * g
    return p - 0.01 * g / (torch.sqrt(v - a * a + 1e-3) + 1e-6), v, a


def _rmsprop_lerp(p, g, v, a, centred=True, eps=1e-3):
    v, a = torch.lerp(v, g * g, 0.1), torch.lerp(a, g, 0.1)
    spread = (v - a.square() if centred else v) + eps
    return torch.addcdiv(p, g, spread.sqrt() + 1e-6, value=-0.01), v, a


def _rmsprop_in_steps(p, g, v, a, late=False):
    v, a = v * 0.9 + (g * 0.1) * g, a * 0.9 + g * 0.1
    root = torch.sqrt(v - a * a) + 1e-3 if late else torch.sqrt(v - a * a + 1e-3)
    return p - g * (0.01 / (root + 1e-6)), v, a


def _averages(seed, dtype):
    torch.manual_seed(seed)
    return [
        *(torch.randn(4, 6).to(dtype) for _ in range(2)),
        (torch.rand(4, 6) + 2).to(dtype),
        torch.rand(4, 6).to(dtype),
    ]


RMSPROP = Problem(
    rmsprop_step,
    _averages,
    (wide(_rmsprop_lerp), wide(_rmsprop_in_steps)),
    {
        "not centred": Wrong(wide(lambda *t: _rmsprop_lerp(*t, centred=False)), "bf16"),
        "eps outside the root": Wrong(wide(lambda *t: _rmsprop_in_steps(*t, late=True))),
        "average not updated": Wrong(
            wide(lambda p, g, v, a: (*_rmsprop_lerp(p, g, v, a)[:2], a * 1.0)), diagnosis="y2 is a copy of a"
        ),
    },
)
