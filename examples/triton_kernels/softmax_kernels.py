"""softmax along one axis: one program per row, the row taken block by block.

The maximum and the sum are found in one pass (Milakov, Gimelshein, Online normalizer calculation for softmax, 2018).
The gradient comes from the saved output: dx = y (g - sum(g y)).
"""

import torch
import triton
import triton.language as tl
from strided import as4d, block_of, row_start


@triton.jit
def softmax_forward(x, y, sizes, n, x_strides, y_strides, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x += row_start(row, sizes, x_strides)
    y += row_start(row, sizes, y_strides)
    highest = -float("inf")
    shift = 0.0
    total = 0.0
    for start in range(0, n, BLOCK):
        j = start + tl.arange(0, BLOCK)
        v = tl.load(x + j * x_strides[3], mask=j < n, other=-float("inf")).to(tl.float32)
        before = highest
        highest = tl.maximum(highest, tl.max(v, 0))
        shift = tl.where(highest == -float("inf"), 0.0, highest)  # -inf - -inf would be nan
        total = total * tl.exp(before - shift) + tl.sum(tl.exp(v - shift), 0)
    for start in range(0, n, BLOCK):
        j = start + tl.arange(0, BLOCK)
        v = tl.load(x + j * x_strides[3], mask=j < n, other=0.0).to(tl.float32)
        tl.store(y + j * y_strides[3], (tl.exp(v - shift) / total).to(y.dtype.element_ty), mask=j < n)


@triton.jit
def softmax_backward(g, y, dx, sizes, n, g_strides, y_strides, dx_strides, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    g += row_start(row, sizes, g_strides)
    y += row_start(row, sizes, y_strides)
    dx += row_start(row, sizes, dx_strides)
    dot = 0.0
    for start in range(0, n, BLOCK):
        j = start + tl.arange(0, BLOCK)
        cotangent = tl.load(g + j * g_strides[3], mask=j < n, other=0.0).to(tl.float32)
        dot += tl.sum(cotangent * tl.load(y + j * y_strides[3], mask=j < n, other=0.0).to(tl.float32), 0)
    for start in range(0, n, BLOCK):
        j = start + tl.arange(0, BLOCK)
        cotangent = tl.load(g + j * g_strides[3], mask=j < n, other=0.0).to(tl.float32)
        v = tl.load(y + j * y_strides[3], mask=j < n, other=0.0).to(tl.float32)
        tl.store(dx + j * dx_strides[3], (v * (cotangent - dot)).to(dx.dtype.element_ty), mask=j < n)


def forward(x, y, *, dim):
    x, y = (as4d(t.movedim(dim, -1) if t.ndim else t) for t in (x, y))
    n = x.shape[-1]
    rows = x[..., 0].numel() if n else 0
    softmax_forward[(rows,)](x, y, x.shape, n, x.stride(), y.stride(), block_of(n))


def backward(g, x, dx, *, dim):
    y = torch.empty_like(dx)
    forward(x, y, dim=dim)
    g, y, dx = (as4d(t.movedim(dim, -1) if t.ndim else t) for t in (g, y, dx))
    n = dx.shape[-1]
    rows = dx[..., 0].numel() if n else 0
    strides = (g.stride(), y.stride(), dx.stride())
    softmax_backward[(rows,)](g, y, dx, dx.shape, n, *strides, block_of(n))
