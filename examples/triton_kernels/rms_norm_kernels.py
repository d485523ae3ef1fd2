"""rms_norm over the last axis: y = x r w with r = 1 / sqrt(mean(x²) + eps), one program per row; r is kept.

With h = g w and c = mean(h x) r: dx = r (h - x r c). The gradient of w is a sum over rows: one program per block of
columns walks down all of them, so that the sum has one order and the same bits each time.
"""

import torch
import triton
import triton.language as tl
from strided import as4d, block_of, row_start


@triton.jit
def rms_norm_forward(
    x, w, y, r, sizes, n, eps, x_strides, w_stride, y_strides, WEIGHT: tl.constexpr, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    x += row_start(row, sizes, x_strides)
    y += row_start(row, sizes, y_strides)
    squares = 0.0
    for start in range(0, n, BLOCK):
        j = start + tl.arange(0, BLOCK)
        v = tl.load(x + j * x_strides[3], mask=j < n, other=0.0).to(tl.float32)
        squares += tl.sum(v * v, 0)
    scale = 1 / tl.sqrt(squares / n + eps)
    tl.store(r + row, scale)
    for start in range(0, n, BLOCK):
        j = start + tl.arange(0, BLOCK)
        v = tl.load(x + j * x_strides[3], mask=j < n, other=0.0).to(tl.float32) * scale
        if WEIGHT:
            v *= tl.load(w + j * w_stride, mask=j < n, other=0.0).to(tl.float32)
        tl.store(y + j * y_strides[3], v.to(y.dtype.element_ty), mask=j < n)


@triton.jit
def rms_norm_backward_x(
    g, x, w, r, dx, sizes, n, g_strides, x_strides, w_stride, dx_strides, WEIGHT: tl.constexpr, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    g += row_start(row, sizes, g_strides)
    x += row_start(row, sizes, x_strides)
    dx += row_start(row, sizes, dx_strides)
    scale = tl.load(r + row)
    dot = 0.0
    for start in range(0, n, BLOCK):
        j = start + tl.arange(0, BLOCK)
        h = tl.load(g + j * g_strides[3], mask=j < n, other=0.0).to(tl.float32)
        if WEIGHT:
            h *= tl.load(w + j * w_stride, mask=j < n, other=0.0).to(tl.float32)
        dot += tl.sum(h * (tl.load(x + j * x_strides[3], mask=j < n, other=0.0).to(tl.float32) * scale), 0)
    mean = dot / n
    for start in range(0, n, BLOCK):
        j = start + tl.arange(0, BLOCK)
        h = tl.load(g + j * g_strides[3], mask=j < n, other=0.0).to(tl.float32)
        if WEIGHT:
            h *= tl.load(w + j * w_stride, mask=j < n, other=0.0).to(tl.float32)
        unit = tl.load(x + j * x_strides[3], mask=j < n, other=0.0).to(tl.float32) * scale
        tl.store(dx + j * dx_strides[3], (scale * (h - unit * mean)).to(dx.dtype.element_ty), mask=j < n)


@triton.jit
def rms_norm_backward_w(
    g, x, r, dw, sizes, rows, n, g_strides, x_strides, ROWS: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    j = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, rows, ROWS):
        i = (start + tl.arange(0, ROWS)).to(tl.int64)
        inside = (i < rows)[:, None] & (j < n)[None, :]
        at_g = row_start(i, sizes, g_strides)[:, None] + j[None, :] * g_strides[3]
        at_x = row_start(i, sizes, x_strides)[:, None] + j[None, :] * x_strides[3]
        scale = tl.load(r + i, mask=i < rows, other=0.0)
        unit = tl.load(x + at_x, mask=inside, other=0.0).to(tl.float32) * scale[:, None]
        total += tl.sum(tl.load(g + at_g, mask=inside, other=0.0).to(tl.float32) * unit, 0)
    tl.store(dw + j, total.to(dw.dtype.element_ty), mask=j < n)


def forward(x, w, y, *, eps):
    """Returns r, one number per row."""
    x, y = as4d(x), as4d(y)
    n, rows = x.shape[-1], x.shape[:-1].numel()
    r = torch.empty(rows, dtype=torch.float32, device=x.device)
    strides = (x.stride(), 0 if w is None else w.stride(0), y.stride())
    rms_norm_forward[(rows,)](x, w, y, r, x.shape, n, eps, *strides, w is not None, block_of(n))
    return r


def backward(g, x, w, dx, dw, *, eps):
    r = forward(x, w, torch.empty(x.shape, dtype=x.dtype, device=x.device), eps=eps)
    g, x = as4d(g), as4d(x)
    n, rows = x.shape[-1], x.shape[:-1].numel()
    if dx is not None:
        dx = as4d(dx)
        strides = (g.stride(), x.stride(), 0 if w is None else w.stride(0), dx.stride())
        rms_norm_backward_x[(rows,)](g, x, w, r, dx, x.shape, n, *strides, w is not None, block_of(n))
    if dw is not None:
        block = block_of(n, 128)
        grid = (triton.cdiv(n, block),)
        rms_norm_backward_w[grid](g, x, r, dw, x.shape, rows, n, g.stride(), x.stride(), 16, block)
