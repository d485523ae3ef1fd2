"""JAX's functions by operator: convolution, windows as columns, pooling. See _jax_ops.py."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

Sizes = int | tuple[int, ...]


def _per_axis(value: Sizes, n: int) -> tuple[int, ...]:
    return (value,) * n if isinstance(value, int) else tuple(value)


def _biased(y: Any, bias: Any) -> Any:
    return y if bias is None else y + bias.reshape((1, -1) + (1,) * (y.ndim - 2))


def _conv(n: int) -> Callable[..., Any]:
    def conv(
        x: Any, weight: Any, bias: Any = None, *, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int
    ) -> Any:
        y = jax.lax.conv_general_dilated(
            x,
            weight,
            _per_axis(stride, n),
            [(p, p) for p in _per_axis(padding, n)],
            rhs_dilation=_per_axis(dilation, n),
            feature_group_count=groups,
        )
        return _biased(y, bias)

    return conv


def _depthwise(x: Any, weight: Any, bias: Any = None, **given: Any) -> Any:
    return _conv(2)(x, weight, bias, **given, groups=x.shape[1])


def _conv_transpose(n: int) -> Callable[..., Any]:
    def conv_transpose(
        x: Any, weight: Any, bias: Any = None, *, stride: Sizes, padding: Sizes, output_padding: Sizes,
        groups: int, dilation: Sizes,
    ) -> Any:  # fmt: skip
        """The transposed convolution as XLA has it: x with gaps, the kernel turned, its channels exchanged."""
        holes, size = _per_axis(dilation, n), weight.shape[2:]
        pads = [
            (d * (k - 1) - p, d * (k - 1) - p + extra)
            for d, k, p, extra in zip(holes, size, _per_axis(padding, n), _per_axis(output_padding, n), strict=True)
        ]
        turned = jnp.flip(weight, range(2, n + 2))
        c, o = weight.shape[:2]
        kernel = (
            turned.reshape((groups, c // groups, o, *size)).swapaxes(1, 2).reshape((groups * o, c // groups, *size))
        )
        y = jax.lax.conv_general_dilated(
            x, kernel, (1,) * n, pads, lhs_dilation=_per_axis(stride, n), rhs_dilation=holes, feature_group_count=groups
        )
        return _biased(y, bias)

    return conv_transpose


def _columns(x: Any, n: int, kernel_size: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes) -> Any:
    pads = [(p, p) for p in _per_axis(padding, n)]
    kernel, strides, holes = (_per_axis(v, n) for v in (kernel_size, stride, dilation))
    y = jax.lax.conv_general_dilated_patches(x, kernel, strides, pads, rhs_dilation=holes)
    return y.reshape((*y.shape[:2], math.prod(y.shape[2:])))


def _im2col(n: int) -> Callable[..., Any]:
    return lambda x, *, kernel_size, dilation, padding, stride: _columns(x, n, kernel_size, dilation, padding, stride)


def _col2im(x: Any, *, output_size: Sizes, kernel_size: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes) -> Any:
    kernel = _per_axis(kernel_size, 2)
    image = jax.ShapeDtypeStruct((x.shape[0], x.shape[1] // math.prod(kernel), *_per_axis(output_size, 2)), x.dtype)
    gathered = jax.linear_transpose(lambda y: _columns(y, 2, kernel, dilation, padding, stride), image)
    return gathered(x)[0]


def _ceiled(size: int, stride: int, pad: int, reach: int, ceil_mode: bool) -> int:
    """Cells to add behind the padding so that the last window, begun on x or its padding before, is whole."""
    room = size + 2 * pad - reach
    if not ceil_mode:
        return 0
    last = -(-room // stride)
    last -= (last * stride) >= size + pad
    return max(last * stride - room, 0)


def _geometry(
    x: Any, n: int, kernel_size: Sizes, stride: Sizes | None, padding: Sizes, dilation: Sizes, ceil_mode: bool
) -> tuple[Any, ...]:
    """Window, strides, pads and dilation over all axes of x, and how many of the last pads are no padding."""
    kernel, holes, pads = (_per_axis(v, n) for v in (kernel_size, dilation, padding))
    strides = kernel if stride is None else _per_axis(stride, n)
    extra = [
        _ceiled(size, s, p, d * (k - 1) + 1, ceil_mode)
        for size, k, s, p, d in zip(x.shape[2:], kernel, strides, pads, holes, strict=True)
    ]
    around = [(0, 0), (0, 0), *((p, p + e) for p, e in zip(pads, extra, strict=True))]
    return (1, 1, *kernel), (1, 1, *strides), around, (1, 1, *holes), extra


def _max_pool(n: int) -> Callable[..., Any]:
    def max_pool(
        x: Any, *, kernel_size: Sizes, stride: Sizes | None, padding: Sizes, dilation: Sizes, ceil_mode: bool
    ) -> Any:
        window, strides, pads, holes, _ = _geometry(x, n, kernel_size, stride, padding, dilation, ceil_mode)
        low = np.array(-np.inf, x.dtype)  # a constant, so that JAX knows the reduction and its gradient

        def better(a: Any, b: Any) -> Any:
            take = (b[0] > a[0]) | ((b[0] == a[0]) & (b[1] < a[1])) | jnp.isnan(b[0])
            return jnp.where(take, b[0], a[0]), jnp.where(take, b[1], a[1])

        places = jnp.broadcast_to(jnp.arange(math.prod(x.shape[2:])).reshape(x.shape[2:]), x.shape)
        fixed, beyond = jax.lax.stop_gradient(x), np.array(np.iinfo(places.dtype).max, places.dtype)
        y = jax.lax.reduce_window(x, low, jax.lax.max, window, strides, pads, window_dilation=holes)
        _, indices = jax.lax.reduce_window(
            (fixed, places), (low, beyond), better, window, strides, pads, window_dilation=holes
        )
        return y, indices

    return max_pool


def _avg_pool(n: int) -> Callable[..., Any]:
    def avg_pool(
        x: Any, *, kernel_size: Sizes, stride: Sizes | None, padding: Sizes, ceil_mode: bool,
        count_include_pad: bool, divisor_override: int | None = None,
    ) -> Any:  # fmt: skip
        window, strides, pads, _, extra = _geometry(x, n, kernel_size, stride, padding, 1, ceil_mode)
        zero = np.zeros((), x.dtype)
        total = jax.lax.reduce_window(x, zero, jax.lax.add, window, strides, pads)
        if divisor_override is not None:
            return total / divisor_override
        cells = jnp.ones(x.shape[2:], x.dtype)
        if count_include_pad:
            cells = jnp.pad(cells, [(p, p) for p in _per_axis(padding, n)], constant_values=1)
            around = [(0, e) for e in extra]
        else:
            around = pads[2:]
        return total / jax.lax.reduce_window(cells, zero, jax.lax.add, window[2:], strides[2:], around)

    return avg_pool


TABLE: dict[str, Callable[..., Any]] = {
    "conv1d": _conv(1),
    "conv2d": _conv(2),
    "conv3d": _conv(3),
    "conv2d_depthwise": _depthwise,
    "conv_transpose1d": _conv_transpose(1),
    "conv_transpose2d": _conv_transpose(2),
    "im2col": _im2col(2),
    "im2col_3d": _im2col(3),
    "col2im": _col2im,
    "max_pool1d": _max_pool(1),
    "max_pool2d": _max_pool(2),
    "avg_pool1d": _avg_pool(1),
    "avg_pool2d": _avg_pool(2),
}
