"""The same function by another identity: folded constants, other formulas, recurrences cut in two."""

from __future__ import annotations

import math

import torch
from fused_problems.shared import Problem, Wrong, wide

F = torch.nn.functional

# --- gelu as a sigmoid


def gelu(x):
    return F.gelu(x, approximate="tanh")


def _by_sigmoid(x, cubic=0.044715):
    return x * torch.sigmoid(2 * math.sqrt(2 / math.pi) * x * (1 + cubic * x * x))


def _rational_tanh(z):
    """tanh by Lambert's fraction, right to four digits."""
    z = z.clamp(-4.97, 4.97)
    return (
        z
        * (135135 + z * z * (17325 + z * z * (378 + z * z)))
        / (135135 + z * z * (62370 + z * z * (3150 + 28 * z * z)))
    )


GELU = Problem(
    gelu,
    [(5, 33)],
    (wide(_by_sigmoid), wide(lambda x: 0.5 * x + 0.5 * x * torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))),
    {
        "quick gelu": Wrong(wide(lambda x: x * torch.sigmoid(1.702 * x))),
        "a tanh of four digits": Wrong(
            wide(lambda x: 0.5 * x * (1 + _rational_tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))), beyond=True
        ),
        "a constant of 0.0447": Wrong(wide(lambda x: _by_sigmoid(x, 0.0447))),
    },
)

# --- binary cross-entropy


def logistic(x, z):
    return F.binary_cross_entropy_with_logits(x, z, reduction="none")


def _by_softplus(x, z):
    return F.softplus(-x.abs()) + x.clamp_min(0) - x * z


LOGISTIC = Problem(
    logistic,
    [(5, 9), (5, 9)],
    (wide(_by_softplus), wide(lambda x, z: (1 - z) * x - F.logsigmoid(x))),
    {
        "exponential of all": Wrong(wide(lambda x, z: torch.log(1 + torch.exp(x)) - x * z), beyond=True),
        # Of a small logit the gradient of z is a difference of two logarithms of a half.
        "two logarithms": Wrong(wide(lambda x, z: -z * F.logsigmoid(x) - (1 - z) * F.logsigmoid(-x)), beyond=True),
        "targets not differentiated": Wrong(wide(lambda x, z: _by_softplus(x, z.detach()))),
        "logits clipped at 30": Wrong(wide(lambda x, z: _by_softplus(x.clamp(-30, 30), z)), beyond=True),
    },
)

# --- a low rank beside a matrix


def adapted(x, w, a, b):
    return x @ (w + b @ a * 2.0).T


def _apart(x, w, a, b, factor=2.0):
    return x @ w.T + ((x @ a.T) @ b.T) * factor


ADAPTED = Problem(
    adapted,
    [(5, 11), (7, 11), (3, 11), (7, 3)],
    (wide(_apart), wide(lambda x, w, a, b: torch.cat([x, x @ a.T], 1) @ torch.cat([w, 2 * b], 1).T)),
    {
        "one factor in the backward": Wrong(wide(lambda *t: _apart(*t, 1.0) + (_apart(*t) - _apart(*t, 1.0)).detach())),
        "rank of two": Wrong(wide(lambda x, w, a, b: _apart(x, w, a[:2], b[:, :2]))),
    },
)

# --- an affine quantisation, its zero point taken out of the sum


def dequantised(x, q, scale, zero):
    return x @ ((q - zero[:, None]) * scale[:, None]).T


def _zero_outside(x, q, scale, zero, drop=False):
    return (x @ q.to(x.dtype).T - x.sum(-1, keepdim=True) * zero * (0 if drop else 1)) * scale


def _codes(seed, dtype):
    torch.manual_seed(seed)
    return [
        torch.randn(5, 24).to(dtype), torch.randint(0, 16, (6, 24)), (0.1 + torch.rand(6)).to(dtype),
        torch.randint(0, 16, (6,)).to(dtype),
    ]  # fmt: skip


DEQUANTISED = Problem(
    dequantised,
    _codes,
    (
        wide(_zero_outside),
        wide(lambda x, q, s, z: torch.einsum("nk,ok->no", x, q.to(x.dtype) * s[:, None] - (z * s)[:, None])),
    ),
    {
        "sum of x without its last": Wrong(
            wide(lambda x, q, s, z: (x @ q.float().T - x[:, :-1].sum(-1, keepdim=True) * z) * s)
        ),
        "zero point in the wrong order": Wrong(wide(lambda x, q, s, z: _zero_outside(x, q, s, z.flip(0)))),
        "zero point without a gradient": Wrong(wide(lambda x, q, s, z: _zero_outside(x, q, s, z.detach()))),
    },
)

# --- a linear recurrence


def decayed(a, x):
    a, h, ys = torch.sigmoid(a), x[0] * 0, []
    for t in range(len(x)):
        h = a[t] * h + (1 - a[t]) * x[t]
        ys.append(h)
    return torch.stack(ys)


def _doubled(a, x, wrong=False):
    """Pairs (decay, value) combined over distances of 1, 2, 4 ..."""
    left, rest = torch.sigmoid(a), torch.sigmoid(-a)
    y, step = rest * x, 1
    while step < len(x):
        y = torch.cat([y[:step], y[step:] + left[step:] * y[:-step]])
        left = torch.cat([left[:step], left[step:] * left[:-step]]) if not wrong else left
        step *= 2
    return y


def _by_division(a, x):
    left = torch.sigmoid(a).cumprod(0)
    return left * ((torch.sigmoid(-a) * x) / left).cumsum(0)


DECAYED = Problem(
    decayed,
    [(7, 5), (7, 5)],
    (wide(_doubled),),
    {
        "decays not doubled": Wrong(wide(lambda a, x: _doubled(a, x, wrong=True))),
        # Where the decays' product is tiny the quotient is infinite.
        "divided by the product of decays": Wrong(wide(_by_division), beyond=True),
        "2e-6 too large": Wrong(wide(lambda a, x: _doubled(a, x) * (1 + 2e-6))),
    },
)

# --- distances


def distances(a, b):
    return (a[:, None] - b[None]).square().sum(-1)


def _expanded(a, b):
    return a.square().sum(-1)[:, None] + b.square().sum(-1) - 2 * a @ b.T


def _of_lengths(a, b):
    apart = b - a[:, None]
    return torch.einsum("ijk,ijk->ij", apart, apart)


DISTANCES = Problem(
    distances,
    [(5, 7), (6, 7)],
    (
        wide(lambda a, b: sum((a[:, None, i] - b[None, :, i]) ** 2 for i in range(a.shape[1]))),
        wide(_of_lengths),
    ),
    {
        # Of two points that are close, squares of lengths leave no digit of their distance.
        "by squares of lengths": Wrong(wide(_expanded), beyond=True),
        "not squared": Wrong(wide(lambda a, b: distances(a, b).sqrt())),
    },
)

# --- a loss that is linear far out


def huber(x, z):
    return F.huber_loss(x, z, delta=0.7)


def _clamped(x, z, held=False):
    d = (x - z).abs()
    near = d.clamp_max(0.7)
    return (near * ((d.detach() if held else d) - near / 2)).mean()


HUBER = Problem(
    huber,
    [(7, 9), (7, 9)],
    (wide(_clamped), wide(lambda x, z: F.smooth_l1_loss(x, z, beta=0.7) * 0.7)),
    {
        "a smooth l1 loss": Wrong(wide(lambda x, z: F.smooth_l1_loss(x, z, beta=0.7))),
        "delta of 0.71": Wrong(wide(lambda x, z: F.huber_loss(x, z, delta=0.71))),
        "distance without a gradient": Wrong(wide(lambda x, z: _clamped(x, z, held=True))),
    },
)

# --- a norm that cannot overflow


def rms_norm(x, w):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * (1 + w)


def _scaled(x, w):
    top = x.abs().amax(-1, keepdim=True).clamp_min(1e-30)
    y = x / top
    return y * torch.rsqrt(y.square().mean(-1, keepdim=True) + 1e-6 / top.square()) * (1 + w)


def _added(x, w):
    y = F.rms_norm(x, x.shape[-1:], eps=1e-6)
    return torch.addcmul(y, y, w)


def _eps_of_rows(x, w):
    eps = 1e-6 * x.abs().amax(-1, keepdim=True)
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * (1 + w)


RMS_NORM = Problem(
    rms_norm,
    [(5, 29), (29,)],
    (
        wide(_scaled),
        wide(_added),
    ),
    {
        "weight without its 1": Wrong(wide(lambda x, w: _scaled(x, w - 1))),
        "eps of the row's size": Wrong(wide(_eps_of_rows), beyond=True),
        "squares in f16": Wrong(
            lambda x, w: x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * (1 + w), "f16", beyond=True
        ),
    },
)
