"""ggml's operators on windows: convolution, columns, pooling."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from opproof.backends._ggml_graph import Graph, Tensor
from opproof.backends._ggml_library import TYPES
from opproof.backends._ggml_views import cast, cont, reshape, rows, swapped
from opproof.backends._protocol import Unsupported

LARGEST, AVERAGE = 0, 1  # enum ggml_op_pool
_FLAT, _PLANE = False, True  # is_2D of ggml_im2col

Sizes = int | tuple[int, ...]


def _each(value: Sizes, axes: int) -> list[int]:
    """One number per axis, the innermost first as ggml has them."""
    return [value] * axes if isinstance(value, int) else list(reversed(value))


def _biased(g: Graph, y: Tensor, bias: Tensor | None, name: str) -> Tensor:
    """Add a bias per channel to y (n, channels, ...), in the case's type."""
    if bias is not None:
        column = reshape(g, cast(g, bias, g.type(y)), (*bias.shape, *([1] * (min(len(y.shape), 4) - 2))))
        y = g.call("ggml_add", y, column)
    return cast(g, y, name)


def _plain_only(groups: int, **others: Any) -> None:
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
    _plain_only(groups)
    (s,), (p,), (d,) = _each(stride, 1), _each(padding, 1), _each(dilation, 1)
    n, out, size = x.shape[0], weight.shape[0], _windows(x.shape[2], weight.shape[2], s, p, d)
    kernel = cont(g, weight)
    if g.type(x) == "f16":
        y = g.call("ggml_conv_1d", kernel, rows(g, x), s, p, d, shape=(n, out, size))
    else:
        shape = _columns(kernel, n, [size])
        columns = g.call("ggml_im2col", kernel, rows(g, x), s, 0, p, 0, d, 0, _FLAT, TYPES[g.type(x)], shape=shape)
        flat, table = reshape(g, columns, (n * size, shape[-1])), reshape(g, kernel, (out, shape[-1]))
        y = g.call("ggml_mul_mat", flat, table, shape=(out, n * size))  # in ggml_conv_2d's order
        y = cont(g, swapped(g, reshape(g, y, (out, n, size)), 0, 1))
    return _biased(g, y, bias, g.type(x))


def _columns(kernel: Tensor, n: int, windows: Sequence[int]) -> tuple[int, ...]:
    return (n, *windows, math.prod(kernel.shape[1:]))


def _windows(size: int, kernel: int, stride: int, padding: int, dilation: int) -> int:
    count = (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1
    if count < 1:
        raise Unsupported("ggml's convolutions need one window at least")
    return count


def _two(x: Tensor, kernel: tuple[int, ...], *how: Sizes) -> tuple[list[int], tuple[int, ...]]:
    """Strides, paddings and dilations innermost first, and the number of windows as NumPy counts."""
    s, p, d = (_each(v, len(kernel)) for v in how)
    size = x.shape[-len(kernel) :]
    out = [_windows(*v) for v in zip(reversed(size), reversed(kernel), s, p, d, strict=True)]
    return [*s, *p, *d], tuple(reversed(out))


def conv2d(
    g: Graph, x: Tensor, weight: Tensor, bias: Tensor | None = None,
    *, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int,
) -> Tensor:  # fmt: skip
    _plain_only(groups)
    how, out = _two(x, weight.shape[2:], stride, padding, dilation)
    y = g.call("ggml_conv_2d", cont(g, weight), rows(g, x), *how, shape=(x.shape[0], weight.shape[0], *out))
    return _biased(g, y, bias, g.type(x))


def conv2d_depthwise(
    g: Graph, x: Tensor, weight: Tensor, bias: Tensor | None = None,
    *, stride: Sizes, padding: Sizes, dilation: Sizes,
) -> Tensor:  # fmt: skip
    """In f16 through columns; in f32 the direct kernel."""
    if weight.shape[0] != x.shape[1]:
        raise Unsupported("ggml's depthwise convolutions have one kernel per channel")
    how, out = _two(x, weight.shape[2:], stride, padding, dilation)
    name = "ggml_conv_2d_dw" if g.type(x) == "f16" else "ggml_conv_2d_dw_direct"
    y = g.call(name, cont(g, weight), cont(g, x), *how, shape=(x.shape[0], weight.shape[0], *out))
    return _biased(g, y, bias, g.type(x))


def conv3d(
    g: Graph, x: Tensor, weight: Tensor, bias: Tensor | None = None,
    *, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int,
) -> Tensor:  # fmt: skip
    """Batch and channels are one axis; the data are f32 whatever the kernel is."""
    _plain_only(groups)
    how, out = _two(x, weight.shape[2:], stride, padding, dilation)
    n, channels = x.shape[0], weight.shape[0]
    data, depth = cast(g, rows(g, x), "f32"), ctypes.c_int64(x.shape[1])
    y = g.call("ggml_conv_3d", cont(g, weight), data, depth, *how, shape=(n * channels, *out))
    y = _biased(g, reshape(g, y, (n, channels, math.prod(out))), bias, g.type(x))
    return reshape(g, y, (n, channels, *out))


def conv_transpose1d(
    g: Graph, x: Tensor, weight: Tensor, bias: Tensor | None = None,
    *, stride: Sizes, padding: Sizes, output_padding: Sizes, groups: int, dilation: Sizes,
) -> Tensor:  # fmt: skip
    """Of one matrix; its data are f32 whatever the kernel is."""
    _plain_only(groups, padding=padding, output_padding=output_padding, dilation=dilation)
    if x.shape[0] != 1:
        raise Unsupported("ggml_conv_transpose_1d has no batches")
    (s,) = _each(stride, 1)
    shape = (1, weight.shape[1], (x.shape[2] - 1) * s + weight.shape[2])
    y = g.call("ggml_conv_transpose_1d", rows(g, weight), cast(g, rows(g, x), "f32"), s, 0, 1, shape=shape)
    return _biased(g, y, bias, g.type(x))


def conv_transpose2d(
    g: Graph, x: Tensor, weight: Tensor, bias: Tensor | None = None,
    *, stride: Sizes, padding: Sizes, output_padding: Sizes, groups: int, dilation: Sizes,
) -> Tensor:  # fmt: skip
    _plain_only(groups, padding=padding, output_padding=output_padding, dilation=dilation)
    sw, sh = _each(stride, 2)
    if sw != sh:
        raise Unsupported("ggml_conv_transpose_2d_p0 has one stride for both axes")
    size = tuple((n - 1) * sw + k for n, k in zip(x.shape[2:], weight.shape[2:], strict=True))
    shape = (x.shape[0], weight.shape[1], *size)
    y = g.call("ggml_conv_transpose_2d_p0", rows(g, weight), cast(g, rows(g, x), "f32"), sw, shape=shape)
    return _biased(g, y, bias, g.type(x))


def im2col(g: Graph, x: Tensor, *, kernel_size: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes) -> Tensor:
    """Windows are rows in ggml; the kernel gives its shape only."""
    kernel = tuple(reversed(_each(kernel_size, 2)))
    how, out = _two(x, kernel, stride, padding, dilation)
    shape = _shaped(g, (1, x.shape[1], *kernel), x)
    y = g.call("ggml_im2col", shape, rows(g, x), *how, _PLANE, TYPES[g.type(x)], shape=_columns(shape, x.shape[0], out))
    return swapped(g, reshape(g, y, (x.shape[0], math.prod(out), y.shape[-1])))


def _shaped(g: Graph, shape: tuple[int, ...], like: Tensor) -> Tensor:
    """A kernel of which ggml reads the shape and the type only."""
    return g.leaf(np.zeros(shape, g.arrays[like.pointer].dtype))


def im2col_3d(g: Graph, x: Tensor, *, kernel_size: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes) -> Tensor:
    kernel = tuple(reversed(_each(kernel_size, 3)))
    how, out = _two(x, kernel, stride, padding, dilation)
    n, c = x.shape[:2]
    shape = _shaped(g, (c, *kernel), x)
    rows_of = (n * out[0], *out[1:], c * math.prod(kernel))
    data = cast(g, rows(g, x), "f32")
    y = g.call("ggml_im2col_3d", shape, data, ctypes.c_int64(c), *how, TYPES[g.type(x)], shape=rows_of)
    return swapped(g, reshape(g, y, (n, math.prod(out), rows_of[-1])))


def col2im(
    g: Graph, x: Tensor, *, output_size: Sizes, kernel_size: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes
) -> Tensor:
    size = tuple(reversed(_each(output_size, 2)))
    return unfolded(g, swapped(g, x), x, size, kernel_size, (stride, padding, dilation))


def unfolded(
    g: Graph, windows: Tensor, like: Tensor, size: tuple[int, ...], kernel_size: Sizes, how: tuple[Sizes, Sizes, Sizes]
) -> Tensor:
    """Windows (n, windows, c kh kw) added back. ggml.h names the kernel first, but the windows come first."""
    kernel = tuple(reversed(_each(kernel_size, 2)))
    n, c = windows.shape[0], windows.shape[-1] // math.prod(kernel)
    numbers, out = _two(Tensor(0, (n, c, *size)), kernel, *how)
    shape, ne = _shaped(g, (1, c, *kernel), like), (ctypes.c_int64 * 4)(*reversed((n, c, *size)))
    columns = reshape(g, windows, (n, *out, windows.shape[-1]))
    return g.call("ggml_im2col_back", cont(g, columns), shape, ne, *numbers, _PLANE, shape=(n, c, *size))


def pool_call(
    g: Graph, name: str, tensors: tuple[Tensor, ...], kind: int, kernel_size: Sizes, stride: Sizes | None,
    padding: Sizes, shape: tuple[int, ...] | None = None,
) -> Tensor:  # fmt: skip
    """ggml_pool_1d, ggml_pool_2d or ggml_pool_2d_back; without `shape`, of as many windows as there are."""
    axes = 1 if "1d" in name else 2
    kernel, x = _each(kernel_size, axes), tensors[-1]
    s, p = kernel if stride is None else _each(stride, axes), _each(padding, axes)
    if shape is None:
        out = [_windows(*v, 1) for v in zip(reversed(x.shape[-axes:]), kernel, s, p, strict=True)]
        shape = (*x.shape[:-axes], *reversed(out))
    pads: list[Any] = [float(v) for v in p] if axes == 2 else p
    return g.call(name, *tensors, kind, *kernel, *s, *pads, shape=shape)


def _average(
    axes: int, g: Graph, x: Tensor, *, kernel_size: Sizes, stride: Sizes | None, padding: Sizes, ceil_mode: bool,
    count_include_pad: bool, divisor_override: int | None = None,
) -> Tensor:  # fmt: skip
    padded = any(np.atleast_1d(padding) != 0)
    if ceil_mode or divisor_override is not None:
        raise Unsupported("ggml's pooling has no ceil_mode and no divisor of its own")
    if padded and count_include_pad != (axes == 2):
        raise Unsupported(f"ggml_pool_{axes}d {'counts' if axes == 2 else 'does not count'} padding in its averages")
    y = pool_call(g, f"ggml_pool_{axes}d", (cont(g, x),), AVERAGE, kernel_size, stride, padding)
    return cast(g, y, g.type(x))


def avg_pool1d(g: Graph, x: Tensor, **how: Any) -> Tensor:
    return _average(1, g, x, **how)


def avg_pool2d(g: Graph, x: Tensor, **how: Any) -> Tensor:
    return _average(2, g, x, **how)


def _largest(
    axes: int, g: Graph, x: Tensor, *, kernel_size: Sizes, stride: Sizes | None, padding: Sizes, dilation: Sizes,
    ceil_mode: bool,
) -> list[Tensor | None]:  # fmt: skip
    """Without indices, so only its gradient can be judged."""
    if ceil_mode or any(np.atleast_1d(dilation) != 1):
        raise Unsupported("ggml's pooling has no ceil_mode and no dilation")
    y = pool_call(g, f"ggml_pool_{axes}d", (cont(g, x),), LARGEST, kernel_size, stride, padding)
    return [cast(g, y, g.type(x)), None]


def max_pool1d(g: Graph, x: Tensor, **how: Any) -> list[Tensor | None]:
    return _largest(1, g, x, **how)


def max_pool2d(g: Graph, x: Tensor, **how: Any) -> list[Tensor | None]:
    return _largest(2, g, x, **how)


OPS: dict[str, Any] = {
    f.__name__: f
    for f in (
        conv1d, conv2d, conv2d_depthwise, conv3d, conv_transpose1d, conv_transpose2d, im2col, im2col_3d, col2im,
        avg_pool1d, avg_pool2d, max_pool1d, max_pool2d,
    )
}  # fmt: skip
