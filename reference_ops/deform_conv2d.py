"""deform_conv2d: a convolution whose kernel reads x at places of its own, moved by an offset at every window.

Shapes: x (n, c, h, w), offset (n, 2 g kh kw, oh, ow), weight (o, c / groups, kh, kw), bias (o,) and mask
(n, g kh kw, oh, ow) optional; y (n, o, oh, ow). Channels of x in g blocks share offsets: for each cell of the kernel
one along h, one along w. What lies between cells is read between the four about it, 0 outside; times mask.
Gradient: with d = weightᵀ g for every cell read: to x by the weights of the four cells, to offset by their change,
to mask the dot product with what was read; dweight and dbias as a convolution's.
Kinks: places in a row or column of centres.
Source: Dai et al., Deformable Convolutional Networks (2017); Zhu et al., Deformable ConvNets v2 (2019).
PyTorch: none (torchvision.ops.deform_conv2d). ONNX: DeformConv. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._sampled import Corner, add, corners, read
from opproof.reference_ops._torch import widened
from opproof.reference_ops._windows import Sizes, per_axis

TRAITS = ("long sum",)


def _starts(
    size: tuple[int, ...], kernel: tuple[int, ...], stride: Sizes, padding: Sizes, dilation: Sizes
) -> tuple[Array, Array]:
    """Where every cell of the kernel lies without offset, (kh kw, oh, 1) along h and (kh kw, 1, ow) along w."""
    s, p, d = per_axis(stride, 2), per_axis(padding, 2), per_axis(dilation, 2)
    cells = np.indices(kernel).reshape(2, -1)
    out = [s[a] * np.arange(size[a]) - p[a] for a in (0, 1)]
    rows = d[0] * cells[0][:, None, None] + out[0][None, :, None]
    return rows, d[1] * cells[1][:, None, None] + out[1][None, None, :]


def _samples(x: Array, offset: Array, weight: Array, **how: Sizes) -> tuple[Array, list[Corner]]:
    """X by blocks that share offsets, (n g, c / g, h, w), and the four cells about each place, (n g, kh kw, oh, ow)."""
    n, _, *size = offset.shape
    kernel = weight.shape[2:]
    cells = kernel[0] * kernel[1]
    moves = np.reshape(offset, (-1, cells, 2, *size))
    rows, columns = _starts((size[0], size[1]), (kernel[0], kernel[1]), **how)
    blocks = moves.shape[0] // max(n, 1)
    plane = (x.shape[2], x.shape[3])
    found = corners(moves[:, :, 0] + rows, moves[:, :, 1] + columns, plane)
    return np.reshape(x, (n * blocks, x.shape[1] // max(blocks, 1), *plane)), found


def _columns(x: Array, around: list[Corner], mask: Array | None) -> tuple[Array, Array]:
    """What each cell of the kernel reads, (n g, c / g, kh kw, oh, ow), before the mask and after."""
    total = read(x, around[0].row, around[0].column) * around[0].weight[:, None]
    for c in around[1:]:
        total = total + read(x, c.row, c.column) * c.weight[:, None]
    return total, total if mask is None else total * np.reshape(mask, around[0].weight.shape)[:, None]


def _grouped(x: Array, weight: Array, columns: Array) -> tuple[Array, Array]:
    """Columns (n, groups, c / groups kh kw, oh ow) and weight (groups, o / groups, c / groups kh kw)."""
    groups = x.shape[1] // weight.shape[1]
    inner = weight.shape[1] * weight.shape[2] * weight.shape[3]
    windows = columns.shape[-2] * columns.shape[-1]
    return (
        np.reshape(columns, (x.shape[0], groups, inner, windows)),
        np.reshape(weight, (groups, weight.shape[0] // groups, inner)),
    )


def forward(
    x: Array, offset: Array, weight: Array, bias: Array | None = None, mask: Array | None = None, *,
    stride: Sizes = 1, padding: Sizes = 0, dilation: Sizes = 1,
) -> Array:  # fmt: skip
    blocks, around = _samples(x, offset, weight, stride=stride, padding=padding, dilation=dilation)
    columns, kernels = _grouped(x, weight, _columns(blocks, around, mask)[1])
    y = np.reshape(np.matmul(kernels, columns), (x.shape[0], weight.shape[0], *offset.shape[2:]))
    return y if bias is None else y + bias[:, None, None]


def vjp(
    g: Array, y: Array, x: Array, offset: Array, weight: Array, bias: Array | None = None, mask: Array | None = None,
    *, stride: Sizes = 1, padding: Sizes = 0, dilation: Sizes = 1,
) -> tuple[Array, Array, Array, Array | None, Array | None]:  # fmt: skip
    blocks, around = _samples(x, offset, weight, stride=stride, padding=padding, dilation=dilation)
    plain, masked = _columns(blocks, around, mask)
    columns, kernels = _grouped(x, weight, masked)
    outer = np.reshape(g, (x.shape[0], kernels.shape[0], kernels.shape[1], columns.shape[-1]))
    dweight = np.reshape(np.sum(np.matmul(outer, np.swapaxes(columns, 2, 3)), axis=0), weight.shape)
    dmasked = np.reshape(np.matmul(np.swapaxes(kernels, 1, 2), outer), masked.shape)
    dmask = None if mask is None else np.reshape(np.sum(dmasked * plain, axis=1), mask.shape)
    dplain = dmasked if mask is None else dmasked * np.reshape(mask, around[0].weight.shape)[:, None]
    dx, dy, dw = np.zeros_like(blocks, dtype=g.dtype), 0.0, 0.0
    for c in around:
        add(dx, c.row, c.column, dplain * c.weight[:, None])
        share = np.sum(dplain * read(blocks, c.row, c.column), axis=1)
        dy, dw = dy + share * c.along_y, dw + share * c.along_x
    doffset = np.reshape(np.stack([dy, dw], axis=2), offset.shape)
    return np.reshape(dx, x.shape), doffset, dweight, None if bias is None else np.sum(g, axis=(0, 2, 3)), dmask


def torch(
    torch: Any, x: Any, offset: Any, weight: Any, bias: Any = None, mask: Any = None, *, stride: Sizes = 1,
    padding: Sizes = 0, dilation: Sizes = 1,
) -> Any:  # fmt: skip
    kernel, (oh, ow), (h, w) = weight.shape[2:], offset.shape[2:], x.shape[2:]
    cells, groups = kernel[0] * kernel[1], x.shape[1] // weight.shape[1]
    wide, moved, kernels, shift, factors = widened(torch, x, offset, weight, bias, mask)
    blocks = offset.shape[1] // (2 * cells)
    moved = moved.reshape(-1, cells, 2, oh, ow)
    (sh, sw), (ph, pw), (dh, dw) = (per_axis(v, 2) for v in (stride, padding, dilation))
    i, j = torch.arange(cells) // kernel[1], torch.arange(cells) % kernel[1]
    py = moved[:, :, 0] + (i * dh)[:, None, None] + (torch.arange(oh) * sh - ph)[:, None]
    px = moved[:, :, 1] + (j * dw)[:, None, None] + torch.arange(ow) * sw - pw
    # Places far outside read zeros like those one cell outside, and index the same.
    edged = torch.nn.functional.pad(wide.reshape(-1, x.shape[1] // blocks, h, w), (1, 2, 1, 2))
    top, left = py.detach().floor().clamp(-1, h), px.detach().floor().clamp(-1, w)
    near = (py >= -1) & (py < h) & (px >= -1) & (px < w)
    fy, fx = torch.where(near, py - top, 0.0)[..., None], torch.where(near, px - left, 0.0)[..., None]
    row, column = top.long() + 1, left.long() + 1
    of = torch.arange(edged.shape[0])[:, None, None, None]

    def at(down: int, right: int) -> Any:
        return edged[of, :, row + down, column + right]

    above, below = (at(down, 0) * (1 - fx) + at(down, 1) * fx for down in (0, 1))
    read = (above * (1 - fy) + below * fy) * near[..., None]
    read = read if factors is None else read * factors.reshape(-1, cells, oh, ow)[..., None]
    columns = read.permute(0, 4, 1, 2, 3).reshape(x.shape[0], groups, weight.shape[1] * cells, oh * ow)
    y = torch.matmul(kernels.reshape(groups, -1, weight.shape[1] * cells), columns)
    y = y.reshape(x.shape[0], weight.shape[0], oh, ow)
    return (y if shift is None else y + shift[:, None, None]).to(x.dtype)
