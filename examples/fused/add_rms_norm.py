"""Residual and RMS norm in one Triton kernel, forward and backward, a program per row.

Broken: it divides the sum of squares by the block, a power of two, instead of by the row.
"""

import os

os.environ.setdefault("TRITON_INTERPRET", "1")  # read when a kernel is defined; leave it out on a GPU

import torch
import triton
import triton.language as tl

EPS = 1e-6


def reference(x, residual, weight):
    h = x + residual
    return h * torch.rsqrt(h.square().mean(-1, keepdim=True) + EPS) * weight, h


inputs = [(6, 48), (6, 48), (48,)]


@triton.jit
def forward_kernel(x, residual, weight, y, h, rate, n, count, eps, BLOCK: tl.constexpr):
    row, j = tl.program_id(0), tl.arange(0, BLOCK)
    at, inside = row * n + j, j < n
    sums = tl.load(x + at, mask=inside, other=0.0) + tl.load(residual + at, mask=inside, other=0.0)
    r = 1 / tl.sqrt(tl.sum(sums * sums, 0) / count + eps)
    tl.store(h + at, sums, mask=inside)
    tl.store(rate + row, r)
    tl.store(y + at, sums * r * tl.load(weight + j, mask=inside, other=0.0), mask=inside)


@triton.jit
def backward_kernel(g, gh, h, weight, rate, dh, parts, n, count, BLOCK: tl.constexpr):
    row, j = tl.program_id(0), tl.arange(0, BLOCK)
    at, inside = row * n + j, j < n
    v, r = tl.load(h + at, mask=inside, other=0.0), tl.load(rate + row)
    cotangent = tl.load(g + at, mask=inside, other=0.0)
    d = cotangent * tl.load(weight + j, mask=inside, other=0.0)
    dot = tl.sum(d * v, 0) / count
    tl.store(dh + at, r * (d - v * r * r * dot) + tl.load(gh + at, mask=inside, other=0.0), mask=inside)
    tl.store(parts + at, cotangent * v * r, mask=inside)


class AddRmsNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, residual, weight, count):
        x, residual, weight = x.contiguous(), residual.contiguous(), weight.contiguous()
        rows, n = x.shape
        y, h, rate = torch.empty_like(x), torch.empty_like(x), x.new_empty(rows)
        block = triton.next_power_of_2(n)
        forward_kernel[(rows,)](x, residual, weight, y, h, rate, n, count or block, EPS, BLOCK=block)
        ctx.save_for_backward(h, weight, rate)
        ctx.count = count or block
        return y, h

    @staticmethod
    def backward(ctx, g, gh):
        h, weight, rate = ctx.saved_tensors
        rows, n = h.shape
        dh, parts = torch.empty_like(h), torch.empty_like(h)
        block = triton.next_power_of_2(n)
        g, gh = g.contiguous(), gh.contiguous()
        backward_kernel[(rows,)](g, gh, h, weight, rate, dh, parts, n, ctx.count, BLOCK=block)
        return dh, dh, parts.sum(0), None


def right(x, residual, weight):
    return AddRmsNorm.apply(x, residual, weight, x.shape[-1])


def broken(x, residual, weight):
    return AddRmsNorm.apply(x, residual, weight, 0)
