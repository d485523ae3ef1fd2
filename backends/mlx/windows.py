"""MLX's functions by operator: convolution, pooling, resizing. See pointwise.py.

MLX keeps channels last, PyTorch and opproof second: they are moved there and back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mlx.core as mx
from mlx import nn
from mlx.nn.layers.upsample import upsample_cubic, upsample_linear, upsample_nearest

from opproof.backends.protocol import Unsupported

Sizes = int | tuple[int, ...]


def move_channels_last(x: Any) -> Any:
    return mx.moveaxis(x, 1, -1)


def move_channels_second(y: Any) -> Any:
    return mx.moveaxis(y, -1, 1)


def _add_bias(y: Any, bias: Any) -> Any:
    return y if bias is None else y + bias.reshape((1, -1) + (1,) * (y.ndim - 2))


def _conv(function: Callable[..., Any]) -> Callable[..., Any]:
    def conv(
        x: Any, weight: Any, bias: Any = None, *, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int = 1
    ) -> Any:
        return _add_bias(
            move_channels_second(
                function(move_channels_last(x), move_channels_last(weight), stride, padding, dilation, groups)
            ),
            bias,
        )

    return conv


def _depthwise(x: Any, weight: Any, bias: Any = None, **given: Any) -> Any:
    return _conv(mx.conv2d)(x, weight, bias, **given, groups=x.shape[1])


def _conv_transpose(function: Callable[..., Any]) -> Callable[..., Any]:
    def conv_transpose(
        x: Any, weight: Any, bias: Any = None, *, stride: Sizes, padding: Sizes, output_padding: Sizes,
        groups: int, dilation: Sizes,
    ) -> Any:  # fmt: skip
        if groups != 1:
            raise Unsupported("MLX's transposed convolutions have no groups")
        kernel = mx.moveaxis(mx.swapaxes(weight, 0, 1), 1, -1)
        return _add_bias(
            move_channels_second(function(move_channels_last(x), kernel, stride, padding, dilation, output_padding)),
            bias,
        )

    return conv_transpose


def _avg_pool(layer: Any) -> Callable[..., Any]:
    def avg_pool(
        x: Any, *, kernel_size: Sizes, stride: Sizes | None, padding: Sizes, ceil_mode: bool,
        count_include_pad: bool, divisor_override: int | None = None,
    ) -> Any:  # fmt: skip
        if isinstance(padding, tuple) and len(padding) > x.ndim - 2:
            raise Unsupported("MLX's AvgPool pads both sides of an axis alike")
        padded = any(padding) if isinstance(padding, tuple) else padding > 0
        if ceil_mode or divisor_override is not None or (padded and not count_include_pad):
            raise Unsupported("MLX's AvgPool has no ceil_mode, counts the padding and divides by the window's size")
        return move_channels_second(layer(kernel_size, stride, padding)(move_channels_last(x)))

    return avg_pool


def _upsample(function: Callable[..., Any], **given: Any) -> Callable[..., Any]:
    def upsample(x: Any, *, size: tuple[int, int], **more: Any) -> Any:
        factors = tuple(float(n) / m for n, m in zip(size, x.shape[2:], strict=True))
        if function is upsample_nearest and not all(f.is_integer() for f in factors):
            raise Unsupported("MLX's Upsample takes the nearest centre; it agrees with floor(i n / out) at multiples")
        y = function(move_channels_last(x), factors, **given, **more)
        if y.shape[1:3] != tuple(size):
            raise Unsupported("MLX's Upsample works from scales, and these round to another size")
        return move_channels_second(y)

    return upsample


TABLE: dict[str, Callable[..., Any]] = {
    "conv1d": _conv(mx.conv1d),
    "conv2d": _conv(mx.conv2d),
    "conv3d": _conv(mx.conv3d),
    "conv2d_depthwise": _depthwise,
    "conv_transpose1d": _conv_transpose(mx.conv_transpose1d),
    "conv_transpose2d": _conv_transpose(mx.conv_transpose2d),
    "conv_transpose3d": _conv_transpose(mx.conv_transpose3d),
    "avg_pool1d": _avg_pool(nn.AvgPool1d),
    "avg_pool2d": _avg_pool(nn.AvgPool2d),
    "avg_pool3d": _avg_pool(nn.AvgPool3d),
    "upsample_nearest": _upsample(upsample_nearest),
    "upsample_bilinear": _upsample(upsample_linear),
    "upsample_bicubic": _upsample(upsample_cubic),
}
