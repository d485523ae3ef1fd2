"""layer_norm over the last axes, taken as one row: y = u w + b with u = (x - mean) r, r = 1 / sqrt(var + eps).

The variance is a second pass over the row: E[x²] - mean² would cancel. mean and r are kept for the gradient.
With h = g w: dx = r (h - mean(h) - u mean(h u)); dw = sum(g u) and db = sum(g) over the rows.
"""

import torch
import triton
import triton.language as tl
from strided import as4d, block_of, row_start


@triton.jit
def layer_norm_forward(
    x, w, b, y, kept, sizes, n, eps, x_strides, w_stride, b_stride, y_strides,
    WEIGHT: tl.constexpr, BIAS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    x += row_start(row, sizes, x_strides)
    y += row_start(row, sizes, y_strides)
    total = 0.0
    for start in range(0, n, BLOCK):
        j = start + tl.arange(0, BLOCK)
        total += tl.sum(tl.load(x + j * x_strides[3], mask=j < n, other=0.0).to(tl.float32), 0)
    mean = total / n
    squares = 0.0
    for start in range(0, n, BLOCK):
        j = start + tl.arange(0, BLOCK)
        away = tl.load(x + j * x_strides[3], mask=j < n, other=0.0).to(tl.float32) - mean
        squares += tl.sum(tl.where(j < n, away * away, 0.0), 0)
    scale = 1 / tl.sqrt(squares / n + eps)
    tl.store(kept + 2 * row, mean)
    tl.store(kept + 2 * row + 1, scale)
    for start in range(0, n, BLOCK):
        j = start + tl.arange(0, BLOCK)
        v = (tl.load(x + j * x_strides[3], mask=j < n, other=0.0).to(tl.float32) - mean) * scale
        if WEIGHT:
            v *= tl.load(w + j * w_stride, mask=j < n, other=0.0).to(tl.float32)
        if BIAS:
            v += tl.load(b + j * b_stride, mask=j < n, other=0.0).to(tl.float32)
        tl.store(y + j * y_strides[3], v.to(y.dtype.element_ty), mask=j < n)


@triton.jit
def layer_norm_backward_x(
    g, x, w, kept, dx, sizes, n, g_strides, x_strides, w_stride, dx_strides,
    WEIGHT: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    g += row_start(row, sizes, g_strides)
    x += row_start(row, sizes, x_strides)
    dx += row_start(row, sizes, dx_strides)
    mean = tl.load(kept + 2 * row)
    scale = tl.load(kept + 2 * row + 1)
    total = 0.0
    dot = 0.0
    for start in range(0, n, BLOCK):
        j = start + tl.arange(0, BLOCK)
        h = tl.load(g + j * g_strides[3], mask=j < n, other=0.0).to(tl.float32)
        if WEIGHT:
            h *= tl.load(w + j * w_stride, mask=j < n, other=0.0).to(tl.float32)
        unit = (tl.load(x + j * x_strides[3], mask=j < n, other=0.0).to(tl.float32) - mean) * scale
        total += tl.sum(h, 0)
        dot += tl.sum(h * unit, 0)
    for start in range(0, n, BLOCK):
        j = start + tl.arange(0, BLOCK)
        h = tl.load(g + j * g_strides[3], mask=j < n, other=0.0).to(tl.float32)
        if WEIGHT:
            h *= tl.load(w + j * w_stride, mask=j < n, other=0.0).to(tl.float32)
        unit = (tl.load(x + j * x_strides[3], mask=j < n, other=0.0).to(tl.float32) - mean) * scale
        d = scale * (h - total / n - unit * (dot / n))
        tl.store(dx + j * dx_strides[3], d.to(dx.dtype.element_ty), mask=j < n)


@triton.jit
def layer_norm_backward_wb(
    g, x, kept, dw, db, sizes, rows, n, g_strides, x_strides,
    WEIGHT: tl.constexpr, BIAS: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    j = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    weighted = tl.zeros((BLOCK,), tl.float32)
    plain = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, rows, ROWS):
        i = (start + tl.arange(0, ROWS)).to(tl.int64)
        inside = (i < rows)[:, None] & (j < n)[None, :]
        at_g = row_start(i, sizes, g_strides)[:, None] + j[None, :] * g_strides[3]
        at_x = row_start(i, sizes, x_strides)[:, None] + j[None, :] * x_strides[3]
        mean = tl.load(kept + 2 * i, mask=i < rows, other=0.0)
        scale = tl.load(kept + 2 * i + 1, mask=i < rows, other=0.0)
        unit = (tl.load(x + at_x, mask=inside, other=0.0).to(tl.float32) - mean[:, None]) * scale[:, None]
        cotangent = tl.load(g + at_g, mask=inside, other=0.0).to(tl.float32)
        weighted += tl.sum(cotangent * unit, 0)
        plain += tl.sum(cotangent, 0)
    if WEIGHT:
        tl.store(dw + j, weighted.to(dw.dtype.element_ty), mask=j < n)
    if BIAS:
        tl.store(db + j, plain.to(db.dtype.element_ty), mask=j < n)


def rows_of(x, axes):
    """`x` with its last `axes` as one; a copy where their strides do not allow a view."""
    return as4d(x.flatten(-axes))


def stride_of(w):
    return 0 if w is None else w.stride(0)


def flat(w):
    return None if w is None else w.flatten()


def forward(x, w, b, y, *, normalized_shape, eps):
    """Returns mean and r of each row."""
    x, y, w, b = rows_of(x, len(normalized_shape)), rows_of(y, len(normalized_shape)), flat(w), flat(b)
    n, rows = x.shape[-1], x.shape[:-1].numel()
    kept = torch.empty((rows, 2), dtype=torch.float32, device=x.device)
    strides = (x.stride(), stride_of(w), stride_of(b), y.stride())
    flags = (w is not None, b is not None)
    layer_norm_forward[(rows,)](x, w, b, y, kept, x.shape, n, eps, *strides, *flags, block_of(n))
    return kept


def backward(g, x, w, b, dx, dw, db, *, normalized_shape, eps):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    kept = forward(x, w, b, y, normalized_shape=normalized_shape, eps=eps)
    g, x, w = rows_of(g, len(normalized_shape)), rows_of(x, len(normalized_shape)), flat(w)
    n, rows = x.shape[-1], x.shape[:-1].numel()
    if dx is not None:
        dx = rows_of(dx, len(normalized_shape))
        strides = (g.stride(), x.stride(), stride_of(w), dx.stride())
        layer_norm_backward_x[(rows,)](g, x, w, kept, dx, x.shape, n, *strides, w is not None, block_of(n))
    if dw is not None or db is not None:
        block = block_of(n, 128)
        grid, flags = (triton.cdiv(n, block),), (dw is not None, db is not None)
        strides = (g.stride(), x.stride())
        layer_norm_backward_wb[grid](g, x, kept, dw, db, x.shape, rows, n, *strides, *flags, 16, block)
