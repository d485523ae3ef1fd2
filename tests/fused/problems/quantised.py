"""Quantised weights."""

from __future__ import annotations

import torch
from fused_problems.shared import Problem, Wrong, times, wide

F = torch.nn.functional

# --- int4 groups, dequantised and multiplied


def int4_matmul(x, packed, scale, zero):
    low, high = packed & 15, packed >> 4
    codes = torch.stack([low, high], -1).reshape(packed.shape[0], -1)
    groups = codes.reshape(packed.shape[0], -1, 8).to(scale.dtype)
    return x @ ((groups - zero[..., None]) * scale[..., None]).reshape(packed.shape[0], -1).T


def _int4_factored(x, packed, scale, zero, swapped=False):
    codes = torch.stack([packed >> 4, packed & 15] if swapped else [packed & 15, packed >> 4], -1)
    groups = codes.reshape(packed.shape[0], -1, 8).float()
    parts = x.reshape(x.shape[0], -1, 8)
    sums = torch.einsum("mgk,ngk->mng", parts, groups) - parts.sum(-1)[:, None] * zero
    return (sums * scale).sum(-1)


def _int4_columns(x, packed, scale, zero):
    return torch.cat([int4_matmul(x, *(t[i : i + 2] for t in (packed, scale, zero))) for i in range(0, 6, 2)], -1)


def _codes(seed, dtype):
    torch.manual_seed(seed)
    packed = torch.randint(256, (6, 12), dtype=torch.uint8).int()
    return [torch.randn(5, 24).to(dtype), packed, (torch.rand(6, 3) + 0.1).to(dtype), torch.full((6, 3), 8.0).to(dtype)]


INT4_MATMUL = Problem(
    int4_matmul,
    _codes,
    (wide(_int4_factored), wide(_int4_columns)),
    {
        "halves of a byte swapped": Wrong(wide(lambda *t: _int4_factored(*t, swapped=True))),
        "zero point 7": Wrong(wide(lambda x, p, s, z: int4_matmul(x, p, s, z - 1)), "bf16"),
        "scale of the next group": Wrong(wide(lambda x, p, s, z: int4_matmul(x, p, s.roll(1, 1), z))),
    },
)

# --- int8 rows, dequantised, multiplied, biased, gelu


def int8_gelu(x, codes, scale, bias):
    return F.gelu(x @ (codes.to(x.dtype) * scale[:, None]).T + bias)


def _int8_after(x, codes, scale, bias, late=False):
    y = x @ codes.T.float()
    y = (y + bias) * scale if late else y * scale + bias
    return 0.5 * y * (1 + torch.erf(y * 0.5**0.5))


def _int8_chunks(x, codes, scale, bias, kept=4):
    parts = zip(x.split(5, 1), codes.split(5, 1), strict=True)
    y = sum(a @ (b.float() * scale[:, None]).T for a, b in list(parts)[:kept])
    return (y + bias) * torch.special.ndtr(y + bias)


def _bytes(seed, dtype):
    torch.manual_seed(seed)
    codes = torch.randint(-128, 128, (7, 18), dtype=torch.int8)
    return [torch.randn(4, 18).to(dtype), codes, (torch.rand(7) * 0.01 + 1e-3).to(dtype), torch.randn(7).to(dtype)]


INT8_GELU = Problem(
    int8_gelu,
    _bytes,
    (wide(_int8_after), wide(_int8_chunks)),
    {
        "bias scaled too": Wrong(wide(lambda *t: _int8_after(*t, late=True))),
        "tail dropped": Wrong(wide(lambda *t: _int8_chunks(*t, kept=3))),
        "1.01 too large": Wrong(times(wide(_int8_after)), "bf16"),
    },
)

# --- codes of a table of 16 values, scaled by blocks


_TABLE = [-1.0, -0.7, -0.53, -0.39, -0.28, -0.18, -0.09, 0.0, 0.08, 0.16, 0.25, 0.34, 0.44, 0.56, 0.72, 1.0]


def table_matmul(x, codes, largest):
    table = torch.tensor(_TABLE, dtype=x.dtype)
    return x @ (table[codes].reshape(-1, 4, 6) * largest[..., None]).reshape(codes.shape).T


def _table_by_counts(x, codes, largest, table=_TABLE, step=6):
    blocks = codes.reshape(codes.shape[0], -1, 6)
    parts = x.reshape(x.shape[0], -1, 6)
    total = 0.0
    for code, value in enumerate(table):
        total = total + value * torch.einsum("mgk,ngk->mng", parts, (blocks == code).float())
    return (total * largest).sum(-1)


def _table_by_blocks(x, codes, largest, shift=0):
    table = torch.tensor(_TABLE, dtype=torch.float64).to(x.dtype)
    parts = [
        (x[:, 6 * g : 6 * g + 6] @ table[codes[:, 6 * g : 6 * g + 6].long()].T) * largest[:, (g + shift) % 4]
        for g in range(4)
    ]
    return (parts[0] + parts[1]) + (parts[2] + parts[3])


def _entries(seed, dtype):
    torch.manual_seed(seed)
    return [torch.randn(5, 24).to(dtype), torch.randint(16, (6, 24)), (torch.rand(6, 4) + 0.2).to(dtype)]


TABLE_MATMUL = Problem(
    table_matmul,
    _entries,
    (wide(_table_by_counts), wide(_table_by_blocks)),
    {
        "an even table": Wrong(wide(lambda *t: _table_by_counts(*t, table=[i / 7.5 - 1 for i in range(16)]))),
        "scale of the next block": Wrong(
            wide(lambda *t: _table_by_blocks(*t, shift=1)), diagnosis="off by one along axis 1"
        ),
        "scale without a gradient": Wrong(wide(lambda x, c, s: _table_by_blocks(x, c, s.detach()))),
    },
)
