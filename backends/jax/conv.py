"""JAX's functions by operator: convolution, and windows as columns. See pointwise.py."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from opproof.backends.sizes import Sizes, to_per_axis


def _add_bias(y: Any, bias: Any) -> Any:
    return y if bias is None else y + bias.reshape((1, -1) + (1,) * (y.ndim - 2))


def _conv(n: int) -> Callable[..., Any]:
    def conv(
        x: Any, weight: Any, bias: Any = None, *, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int
    ) -> Any:
        y = jax.lax.conv_general_dilated(
            x,
            weight,
            to_per_axis(stride, n),
            [(p, p) for p in to_per_axis(padding, n)],
            rhs_dilation=to_per_axis(dilation, n),
            feature_group_count=groups,
        )
        return _add_bias(y, bias)

    return conv


def _depthwise(x: Any, weight: Any, bias: Any = None, **given: Any) -> Any:
    return _conv(2)(x, weight, bias, **given, groups=x.shape[1])


def _conv_transpose(n: int) -> Callable[..., Any]:
    def conv_transpose(
        x: Any, weight: Any, bias: Any = None, *, stride: Sizes, padding: Sizes, output_padding: Sizes,
        groups: int, dilation: Sizes,
    ) -> Any:  # fmt: skip
        """The transposed convolution as XLA has it: x with gaps, the kernel turned, its channels exchanged."""
        holes, size = to_per_axis(dilation, n), weight.shape[2:]
        pads = [
            (d * (k - 1) - p, d * (k - 1) - p + extra)
            for d, k, p, extra in zip(holes, size, to_per_axis(padding, n), to_per_axis(output_padding, n), strict=True)
        ]
        turned = jnp.flip(weight, range(2, n + 2))
        c, o = weight.shape[:2]
        kernel = (
            turned.reshape((groups, c // groups, o, *size)).swapaxes(1, 2).reshape((groups * o, c // groups, *size))
        )
        y = jax.lax.conv_general_dilated(
            x,
            kernel,
            (1,) * n,
            pads,
            lhs_dilation=to_per_axis(stride, n),
            rhs_dilation=holes,
            feature_group_count=groups,
        )
        return _add_bias(y, bias)

    return conv_transpose


def _make_columns(x: Any, n: int, kernel_size: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes) -> Any:
    pads = [(p, p) for p in to_per_axis(padding, n)]
    kernel, strides, holes = (to_per_axis(v, n) for v in (kernel_size, stride, dilation))
    y = jax.lax.conv_general_dilated_patches(x, kernel, strides, pads, rhs_dilation=holes)
    return y.reshape((*y.shape[:2], math.prod(y.shape[2:])))


def _im2col(n: int) -> Callable[..., Any]:
    return lambda x, *, kernel_size, dilation, padding, stride: _make_columns(
        x, n, kernel_size, dilation, padding, stride
    )


def _col2im(x: Any, *, output_size: Sizes, kernel_size: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes) -> Any:
    kernel = to_per_axis(kernel_size, 2)
    image = jax.ShapeDtypeStruct((x.shape[0], x.shape[1] // math.prod(kernel), *to_per_axis(output_size, 2)), x.dtype)
    gathered = jax.linear_transpose(lambda y: _make_columns(y, 2, kernel, dilation, padding, stride), image)
    return gathered(x)[0]


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
}
