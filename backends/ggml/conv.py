"""ggml's operators on windows: convolution and columns."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from opproof.backends.ggml.graph import Graph, Tensor
from opproof.backends.ggml.library import TYPES
from opproof.backends.ggml.memory import dtype_of
from opproof.backends.ggml.views import cast, ensure_contiguous, ensure_rows, reshape, swap_axes
from opproof.backends.protocol import Unsupported

_IS_1D, _IS_2D = False, True  # is_2D of ggml_im2col

Sizes = int | tuple[int, ...]


def to_each_axis(value: Sizes, axes: int) -> list[int]:
    """One number per axis, the innermost first as ggml has them."""
    return [value] * axes if isinstance(value, int) else list(reversed(value))


def _add_bias(g: Graph, y: Tensor, bias: Tensor | None, name: str) -> Tensor:
    """Add a bias per channel to y (n, channels, ...), in the case's type."""
    if bias is not None:
        column = reshape(g, cast(g, bias, g.type(y)), (*bias.shape, *([1] * (min(len(y.shape), 4) - 2))))
        y = g.call("ggml_add", y, column)
    return cast(g, y, name)


def _require_plain(groups: int, **others: Any) -> None:
    if groups != 1:
        raise Unsupported("ggml's convolutions have no groups")
    for name, value in others.items():
        if any(v != (1 if name == "dilation" else 0) for v in np.atleast_1d(value)):
            raise Unsupported(f"ggml's transposed convolutions have no {name}")


def conv1d(
    g: Graph, x: Tensor, weight: Tensor, bias: Tensor | None = None,
    *, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int,
) -> Tensor:  # fmt: skip
    """ggml_conv_1d goes through f16; in f32 its two steps, ggml_im2col and ggml_mul_mat, are called one by one."""
    _require_plain(groups)
    (s,), (p,), (d,) = to_each_axis(stride, 1), to_each_axis(padding, 1), to_each_axis(dilation, 1)
    n, out, size = x.shape[0], weight.shape[0], count_windows(x.shape[2], weight.shape[2], s, p, d)
    kernel = ensure_contiguous(g, weight)
    if g.type(x) == "f16":
        y = g.call("ggml_conv_1d", kernel, ensure_rows(g, x), s, p, d, shape=(n, out, size))
    else:
        shape = _shape_of_columns(kernel, n, [size])
        columns = g.call(
            "ggml_im2col", kernel, ensure_rows(g, x), s, 0, p, 0, d, 0, _IS_1D, TYPES[g.type(x)], shape=shape
        )
        flat, table = reshape(g, columns, (n * size, shape[-1])), reshape(g, kernel, (out, shape[-1]))
        y = g.call("ggml_mul_mat", flat, table, shape=(out, n * size))  # in ggml_conv_2d's order
        y = ensure_contiguous(g, swap_axes(g, reshape(g, y, (out, n, size)), 0, 1))
    return _add_bias(g, y, bias, g.type(x))


def _shape_of_columns(kernel: Tensor, n: int, windows: Sequence[int]) -> tuple[int, ...]:
    return (n, *windows, math.prod(kernel.shape[1:]))


def count_windows(size: int, kernel: int, stride: int, padding: int, dilation: int) -> int:
    count = (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1
    if count < 1:
        raise Unsupported("ggml's convolutions need one window at least")
    return count


def _geometry_of(x: Tensor, kernel: tuple[int, ...], *how: Sizes) -> tuple[list[int], tuple[int, ...]]:
    """Strides, paddings and dilations innermost first, and the number of windows as NumPy counts."""
    s, p, d = (to_each_axis(v, len(kernel)) for v in how)
    size = x.shape[-len(kernel) :]
    out = [count_windows(*v) for v in zip(reversed(size), reversed(kernel), s, p, d, strict=True)]
    return [*s, *p, *d], tuple(reversed(out))


def conv2d(
    g: Graph, x: Tensor, weight: Tensor, bias: Tensor | None = None,
    *, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int,
) -> Tensor:  # fmt: skip
    _require_plain(groups)
    how, out = _geometry_of(x, weight.shape[2:], stride, padding, dilation)
    y = g.call(
        "ggml_conv_2d", ensure_contiguous(g, weight), ensure_rows(g, x), *how, shape=(x.shape[0], weight.shape[0], *out)
    )
    return _add_bias(g, y, bias, g.type(x))


def conv2d_depthwise(
    g: Graph, x: Tensor, weight: Tensor, bias: Tensor | None = None,
    *, stride: Sizes, padding: Sizes, dilation: Sizes,
) -> Tensor:  # fmt: skip
    """In f16 through columns; in f32 the direct kernel."""
    if weight.shape[0] != x.shape[1]:
        raise Unsupported("ggml's depthwise convolutions have one kernel per channel")
    how, out = _geometry_of(x, weight.shape[2:], stride, padding, dilation)
    name = "ggml_conv_2d_dw" if g.type(x) == "f16" else "ggml_conv_2d_dw_direct"
    y = g.call(
        name, ensure_contiguous(g, weight), ensure_contiguous(g, x), *how, shape=(x.shape[0], weight.shape[0], *out)
    )
    return _add_bias(g, y, bias, g.type(x))


def conv3d(
    g: Graph, x: Tensor, weight: Tensor, bias: Tensor | None = None,
    *, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int,
) -> Tensor:  # fmt: skip
    """Batch and channels are one axis; the data are f32 whatever the kernel is."""
    _require_plain(groups)
    how, out = _geometry_of(x, weight.shape[2:], stride, padding, dilation)
    n, channels = x.shape[0], weight.shape[0]
    data, depth = cast(g, ensure_rows(g, x), "f32"), ctypes.c_int64(x.shape[1])
    y = g.call("ggml_conv_3d", ensure_contiguous(g, weight), data, depth, *how, shape=(n * channels, *out))
    y = _add_bias(g, reshape(g, y, (n, channels, math.prod(out))), bias, g.type(x))
    return reshape(g, y, (n, channels, *out))


def conv_transpose1d(
    g: Graph, x: Tensor, weight: Tensor, bias: Tensor | None = None,
    *, stride: Sizes, padding: Sizes, output_padding: Sizes, groups: int, dilation: Sizes,
) -> Tensor:  # fmt: skip
    """Of one matrix; its data are f32 whatever the kernel is."""
    _require_plain(groups, padding=padding, output_padding=output_padding, dilation=dilation)
    if x.shape[0] != 1:
        raise Unsupported("ggml_conv_transpose_1d has no batches")
    (s,) = to_each_axis(stride, 1)
    shape = (1, weight.shape[1], (x.shape[2] - 1) * s + weight.shape[2])
    y = g.call(
        "ggml_conv_transpose_1d", ensure_rows(g, weight), cast(g, ensure_rows(g, x), "f32"), s, 0, 1, shape=shape
    )
    return _add_bias(g, y, bias, g.type(x))


def conv_transpose2d(
    g: Graph, x: Tensor, weight: Tensor, bias: Tensor | None = None,
    *, stride: Sizes, padding: Sizes, output_padding: Sizes, groups: int, dilation: Sizes,
) -> Tensor:  # fmt: skip
    _require_plain(groups, padding=padding, output_padding=output_padding, dilation=dilation)
    sw, sh = to_each_axis(stride, 2)
    if sw != sh:
        raise Unsupported("ggml_conv_transpose_2d_p0 has one stride for both axes")
    size = tuple((n - 1) * sw + k for n, k in zip(x.shape[2:], weight.shape[2:], strict=True))
    shape = (x.shape[0], weight.shape[1], *size)
    y = g.call("ggml_conv_transpose_2d_p0", ensure_rows(g, weight), cast(g, ensure_rows(g, x), "f32"), sw, shape=shape)
    return _add_bias(g, y, bias, g.type(x))


def im2col(g: Graph, x: Tensor, *, kernel_size: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes) -> Tensor:
    """Windows are rows in ggml; the kernel gives its shape only."""
    kernel = tuple(reversed(to_each_axis(kernel_size, 2)))
    how, out = _geometry_of(x, kernel, stride, padding, dilation)
    shape = make_shaped(g, (1, x.shape[1], *kernel), x)
    y = g.call(
        "ggml_im2col",
        shape,
        ensure_rows(g, x),
        *how,
        _IS_2D,
        TYPES[g.type(x)],
        shape=_shape_of_columns(shape, x.shape[0], out),
    )
    return swap_axes(g, reshape(g, y, (x.shape[0], math.prod(out), y.shape[-1])))


def make_shaped(g: Graph, shape: tuple[int, ...], like: Tensor) -> Tensor:
    """A tensor of the type of `like`, of which ggml reads the shape and the type only."""
    return g.leaf(np.zeros(shape, dtype_of(g.type(like))))


def im2col_3d(g: Graph, x: Tensor, *, kernel_size: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes) -> Tensor:
    kernel = tuple(reversed(to_each_axis(kernel_size, 3)))
    how, out = _geometry_of(x, kernel, stride, padding, dilation)
    n, c = x.shape[:2]
    shape = make_shaped(g, (c, *kernel), x)
    rows_of = (n * out[0], *out[1:], c * math.prod(kernel))
    data = cast(g, ensure_rows(g, x), "f32")
    y = g.call("ggml_im2col_3d", shape, data, ctypes.c_int64(c), *how, TYPES[g.type(x)], shape=rows_of)
    return swap_axes(g, reshape(g, y, (n, math.prod(out), rows_of[-1])))


def col2im(
    g: Graph, x: Tensor, *, output_size: Sizes, kernel_size: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes
) -> Tensor:
    size = tuple(reversed(to_each_axis(output_size, 2)))
    return fold_windows(g, swap_axes(g, x), x, size, kernel_size, (stride, padding, dilation))


def fold_windows(
    g: Graph, windows: Tensor, like: Tensor, size: tuple[int, ...], kernel_size: Sizes, how: tuple[Sizes, Sizes, Sizes]
) -> Tensor:
    """Windows (n, windows, c kh kw) added back. ggml.h names the kernel first, but the windows come first."""
    kernel = tuple(reversed(to_each_axis(kernel_size, 2)))
    n, c = windows.shape[0], windows.shape[-1] // math.prod(kernel)
    numbers, out = _geometry_of(Tensor(0, (n, c, *size)), kernel, *how)
    shape, ne = make_shaped(g, (1, c, *kernel), like), (ctypes.c_int64 * 4)(*reversed((n, c, *size)))
    columns = reshape(g, windows, (n, *out, windows.shape[-1]))
    return g.call("ggml_im2col_back", ensure_contiguous(g, columns), shape, ne, *numbers, _IS_2D, shape=(n, c, *size))


TABLE: dict[str, Any] = {
    f.__name__: f
    for f in (
        conv1d, conv2d, conv2d_depthwise, conv3d, conv_transpose1d, conv_transpose2d, im2col, im2col_3d, col2im,
    )
}  # fmt: skip
