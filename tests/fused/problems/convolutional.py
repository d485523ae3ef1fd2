"""Convolutions."""

from __future__ import annotations

import torch
from fused_problems.shared import Problem, Wrong, wide

F = torch.nn.functional

# --- causal convolution by channel, silu, gated


def gated_conv(x, w, b, gate):
    y = F.conv1d(F.pad(x, (3, 0)), w[:, None], b, groups=x.shape[1])
    return F.silu(y) * gate


def _conv_by_shifts(x, w, b, gate, late=0, flipped=False):
    y = b[:, None]
    for i in range(4):
        back = 3 - i - late
        shifted = F.pad(x, (back, 0))[..., : x.shape[-1]] if back >= 0 else F.pad(x, (0, -back))[..., -back:]
        y = y + shifted * w[:, 3 - i if flipped else i, None]
    return y * torch.sigmoid(y) * gate


def _conv_by_windows(x, w, b, gate):
    y = (F.pad(x, (3, 0)).unfold(-1, 4, 1) * w[:, None]).sum(-1) + b[:, None]
    return gate * y * torch.exp(F.logsigmoid(y))


GATED_CONV = Problem(
    gated_conv,
    [(2, 3, 8), (3, 4), (3,), (2, 3, 8)],
    (wide(_conv_by_shifts), wide(_conv_by_windows)),
    {
        "one step of the future": Wrong(wide(lambda *t: _conv_by_shifts(*t, late=1))),
        "kernel flipped": Wrong(wide(lambda *t: _conv_by_shifts(*t, flipped=True))),
        "no bias": Wrong(
            wide(lambda x, w, b, g: _conv_by_windows(x, w, 0 * b, g)), "bf16", diagnosis="input b is ignored"
        ),
    },
)

# --- convolution, batch norm of fixed statistics, silu


def conv_norm_silu(x, w, mean, variance, gain, bias):
    y = F.batch_norm(F.conv2d(x, w, stride=2, padding=1), mean, variance.abs(), gain, bias, eps=1e-2)
    return F.silu(y)


def _conv_folded(x, w, mean, variance, gain, bias, eps=1e-2, padding=1):
    rate = gain * torch.rsqrt(variance.abs() + eps)
    y = F.conv2d(x, w * rate[:, None, None, None], bias - mean * rate, 2, padding)
    return y[..., :3, :2] * torch.sigmoid(y[..., :3, :2])


def _conv_by_columns(x, w, mean, variance, gain, bias, turned=False):
    columns = F.unfold(x, 3, padding=1, stride=2)
    kernels = (w.transpose(-1, -2) if turned else w).reshape(w.shape[0], -1)
    y = (kernels @ columns - mean[:, None]) / torch.sqrt(variance.abs() + 1e-2)[:, None]
    y = y * gain[:, None] + bias[:, None]
    return F.silu(y).reshape(x.shape[0], -1, 3, 2)


def _pictures(seed, dtype):
    torch.manual_seed(seed)
    shapes = ((2, 3, 5, 4), (4, 3, 3, 3), (4,))
    return [*(torch.randn(s).to(dtype) for s in shapes), (torch.rand(4) + 0.1).to(dtype), *torch.randn(2, 4).to(dtype)]


CONV_NORM_SILU = Problem(
    conv_norm_silu,
    _pictures,
    (wide(_conv_folded), wide(_conv_by_columns)),
    {
        "kernel transposed": Wrong(wide(lambda *t: _conv_by_columns(*t, turned=True))),
        "eps of 1e-5": Wrong(wide(lambda *t: _conv_folded(*t, eps=1e-5)), "bf16"),
        "mean added": Wrong(wide(lambda x, w, m, *t: _conv_folded(x, w, -m, *t))),
    },
)

# --- transposed convolution, cropped, averaged, biased


def grown_average(x, w, b):
    y = F.conv_transpose1d(x, w, stride=2)
    return F.avg_pool1d(torch.tanh(y), 3, 2, 1) + b[:, None]


def _grown_by_places(x, w, b, inside=False, step=2):
    y = torch.zeros(x.shape[0], w.shape[1], (x.shape[-1] - 1) * 2 + w.shape[-1])
    for i in range(w.shape[-1]):
        part = torch.einsum("bcn,co->bon", x, w[..., i])
        y = y.index_add(-1, torch.arange(x.shape[-1]) * 2 + i, part)
    y = F.pad(torch.tanh(y), (1, 1)).unfold(-1, 3, 2)
    count = F.pad(torch.ones(y.shape[-2] * 2), (1, 1)).unfold(-1, 3, 2).sum(-1)[: y.shape[-2]] if inside else 3
    return y.sum(-1) / count + b[:, None]


def _grown_by_matrix(x, w, b):
    size = (x.shape[-1] - 1) * 2 + w.shape[-1]
    rows = torch.stack([F.pad(w, (2 * i, size - 2 * i - w.shape[-1])) for i in range(x.shape[-1])])
    y = torch.tanh(torch.einsum("bcn,ncol->bol", x, rows))
    z = F.pad(y, (1, 1))
    count = size // 2 + size % 2
    return (z[..., : 2 * count : 2] + z[..., 1 : 2 * count : 2] + z[..., 2 : 2 * count + 1 : 2]) / 3 + b[:, None]


GROWN_AVERAGE = Problem(
    grown_average,
    [(2, 3, 4), (3, 5, 3), (5,)],
    (wide(_grown_by_places), wide(_grown_by_matrix)),
    {
        "padding not counted": Wrong(wide(lambda *t: _grown_by_places(*t, inside=True))),
        "bias before the average": Wrong(
            wide(lambda x, w, b: F.avg_pool1d(torch.tanh(F.conv_transpose1d(x, w, b, stride=2)), 3, 2, 1))
        ),
        "batches summed of the bias": Wrong(
            wide(lambda x, w, b: _grown_by_places(x, w, b.detach() + (b - b.detach()) / 2)), diagnosis="1/2"
        ),
    },
)
