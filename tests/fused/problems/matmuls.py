"""Products of matrices with activations."""

from __future__ import annotations

import torch
from fused_problems.shared import Problem, Wrong, wide

F = torch.nn.functional

# --- swiglu


def swiglu(x, a, b, c):
    return (F.silu(x @ a) * (x @ b)) @ c


def _swiglu_chunks(x, a, b, c):
    parts = zip(a.split(7, 1), b.split(7, 1), c.split(7, 0), strict=True)
    return sum(((x @ p) * torch.sigmoid(x @ p) * (x @ q)) @ r for p, q, r in parts)


def _swiglu_joined(x, a, b, c):
    gate, up = (x @ torch.cat([a, b], 1)).chunk(2, -1)
    return (up * gate * torch.sigmoid(gate)) @ c


SWIGLU = Problem(
    swiglu,
    [(5, 16), (16, 20), (16, 20), (20, 12)],
    (wide(_swiglu_chunks), wide(_swiglu_joined)),
    {
        "gates swapped": Wrong(wide(lambda x, a, b, c: swiglu(x, b, a, c))),
        "tail dropped": Wrong(wide(lambda x, a, b, c: swiglu(x, a[:, :-1], b[:, :-1], c[:-1]))),
        "gelu for silu": Wrong(wide(lambda x, a, b, c: (F.gelu(x @ a) * (x @ b)) @ c), "bf16"),
    },
)

# --- bias, geglu, residual


def geglu_residual(x, w, b, c):
    gate, up = (x @ w + b).chunk(2, -1)
    return x + F.gelu(gate, approximate="tanh") * up * c


def _geglu_by_sigmoid(x, w, b, c, swapped=False, bias=True):
    n = x.shape[-1]
    gate, up = (x @ w[:, i : i + n] + (b[i : i + n] if bias else 0) for i in (0, n))
    gate, up = (up, gate) if swapped else (gate, up)
    inner = 2 * (2 / torch.pi) ** 0.5 * gate * (1 + 0.044715 * gate * gate)
    return x + gate * torch.sigmoid(inner) * up * c


def _geglu_chunks(x, w, b, c):
    total = sum(xs @ ws for xs, ws in zip(x.split(3, -1), w.split(3), strict=True)) + b
    gate, up = total.split(x.shape[-1], -1)
    half = 0.5 * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (gate + 0.044715 * gate**3)))
    return torch.addcmul(x, gate * half, up * c)


GEGLU_RESIDUAL = Problem(
    geglu_residual,
    [(5, 7), (7, 14), (14,), (7,)],
    (wide(_geglu_by_sigmoid), wide(_geglu_chunks)),
    {
        "gates swapped": Wrong(wide(lambda *t: _geglu_by_sigmoid(*t, swapped=True))),
        "no bias": Wrong(wide(lambda *t: _geglu_by_sigmoid(*t, bias=False))),
        "residual without a gradient": Wrong(wide(lambda x, *t: _geglu_chunks(x, *t) - x + x.detach())),
    },
)
