"""MLX's functions by operator: normalisation, attention, convolution, pooling, resizing, optimisers. See _mlx_ops.py.

MLX keeps channels last, PyTorch and opproof second: they are moved there and back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mlx.core as mx
from mlx import nn, optimizers
from mlx.nn.layers.upsample import upsample_cubic, upsample_linear, upsample_nearest

from opproof.backends._protocol import Unsupported

Sizes = int | tuple[int, ...]


def _last(x: Any) -> Any:
    return mx.moveaxis(x, 1, -1)


def _first(y: Any) -> Any:
    return mx.moveaxis(y, -1, 1)


def _layer(layer: Any, weight: Any, bias: Any, **state: Any) -> Any:
    """A layer of mlx.nn with these weights; both or none, as the layer has them."""
    given = {name: v for name, v in {"weight": weight, "bias": bias, **state}.items() if v is not None}
    for name, value in given.items():
        setattr(layer, name, value)
    return layer


def _affine(weight: Any, bias: Any) -> bool:
    if (weight is None) != (bias is None):
        raise Unsupported("the layers of mlx.nn have weight and bias, or neither")
    return weight is not None


# Normalisation


def _layer_norm(x: Any, weight: Any = None, bias: Any = None, *, normalized_shape: tuple[int, ...], eps: float) -> Any:
    if len(normalized_shape) != 1:
        raise Unsupported("MLX's layer_norm is over the last axis")
    return mx.fast.layer_norm(x, weight, bias, eps)


def _group_norm(x: Any, weight: Any = None, bias: Any = None, *, num_groups: int, eps: float) -> Any:
    affine = _affine(weight, bias)
    layer = nn.GroupNorm(num_groups, x.shape[1], eps, affine=affine, pytorch_compatible=True)
    return _first(_layer(layer, weight, bias)(_last(x)))


def _instance_norm(x: Any, weight: Any = None, bias: Any = None, *, eps: float) -> Any:
    layer = nn.InstanceNorm(x.shape[1], eps, affine=_affine(weight, bias))
    return _first(_layer(layer, weight, bias)(_last(x)))


def _batch_norm(
    x: Any, running_mean: Any = None, running_var: Any = None, weight: Any = None, bias: Any = None,
    *, training: bool, eps: float,
) -> Any:  # fmt: skip
    if x.ndim > 4 or (training and x.size == x.shape[1]):
        raise Unsupported("MLX's BatchNorm takes up to four axes, and more than one value per channel in training")
    layer = nn.BatchNorm(x.shape[1], eps, affine=_affine(weight, bias), track_running_stats=not training)
    layer.train(training)
    moments = {} if training else {"running_mean": running_mean, "running_var": running_var}
    return _first(_layer(layer, weight, bias, **moments)(_last(x)))


# Attention


def _attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None, keep: Any = None, sinks: Any = None,
    *, is_causal: bool, scale: float | None, enable_gqa: bool, softcap: float, max_bias: float,
) -> Any:  # fmt: skip
    if softcap > 0 or max_bias > 0:
        raise Unsupported("MLX's attention has no softcap and no ALiBi")
    if sum((is_causal, attn_mask is not None, keep is not None)) > 1:
        raise Unsupported("MLX's attention takes one mask")
    if is_causal and query.shape[2] != key.shape[2]:
        raise Unsupported("MLX's causal mask ends with the last query at the last key")
    mask: Any = "causal" if is_causal else attn_mask if keep is None else keep != 0
    factor = query.shape[-1] ** -0.5 if scale is None else scale
    return mx.fast.scaled_dot_product_attention(query, key, value, scale=factor, mask=mask, sinks=sinks)


def _rope(
    x: Any, positions: Any, freq_factors: Any = None, *, n_dims: int, mode: str, freq_base: float, freq_scale: float,
    ext_factor: float, attn_factor: float, **_: Any,
) -> Any:  # fmt: skip
    if mode not in ("norm", "neox") or ext_factor != 0 or attn_factor != 1:
        raise Unsupported("MLX's rope is of the modes norm and neox, without YaRN")
    if freq_factors is None:
        angles: dict[str, Any] = {"base": freq_base}
    else:
        powers = mx.arange(0, n_dims, 2).astype(mx.float32) / n_dims
        angles = {"base": None, "freqs": mx.power(freq_base, powers) * freq_factors.astype(mx.float32)}
    rows = mx.transpose(x, (1, 0, 2, 3))  # MLX takes a position per batch, then counts on: one token a batch
    y = mx.fast.rope(
        rows.reshape(x.shape[1], -1, 1, x.shape[3]), n_dims, traditional=mode == "norm", scale=freq_scale,
        offset=positions.astype(mx.int32), **angles,
    )  # fmt: skip
    return mx.transpose(y.reshape(rows.shape), (1, 0, 2, 3))


# Convolution and pooling


def _biased(y: Any, bias: Any) -> Any:
    return y if bias is None else y + bias.reshape((1, -1) + (1,) * (y.ndim - 2))


def _conv(function: Callable[..., Any]) -> Callable[..., Any]:
    def conv(
        x: Any, weight: Any, bias: Any = None, *, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int = 1
    ) -> Any:
        return _biased(_first(function(_last(x), _last(weight), stride, padding, dilation, groups)), bias)

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
        return _biased(_first(function(_last(x), kernel, stride, padding, dilation, output_padding)), bias)

    return conv_transpose


def _avg_pool(layer: Any) -> Callable[..., Any]:
    def avg_pool(
        x: Any, *, kernel_size: Sizes, stride: Sizes | None, padding: Sizes, ceil_mode: bool,
        count_include_pad: bool, divisor_override: int | None = None,
    ) -> Any:  # fmt: skip
        padded = any(padding) if isinstance(padding, tuple) else padding > 0
        if ceil_mode or divisor_override is not None or (padded and not count_include_pad):
            raise Unsupported("MLX's AvgPool has no ceil_mode, counts the padding and divides by the window's size")
        return _first(layer(kernel_size, stride, padding)(_last(x)))

    return avg_pool


def _upsample(function: Callable[..., Any], **given: Any) -> Callable[..., Any]:
    def upsample(x: Any, *, size: tuple[int, int], **more: Any) -> Any:
        factors = tuple(float(n) / m for n, m in zip(size, x.shape[2:], strict=True))
        if function is upsample_nearest and not all(f.is_integer() for f in factors):
            raise Unsupported("MLX's Upsample takes the nearest centre; it agrees with floor(i n / out) at multiples")
        y = function(_last(x), factors, **given, **more)
        if y.shape[1:3] != tuple(size):
            raise Unsupported("MLX's Upsample works from scales, and these round to another size")
        return _first(y)

    return upsample


# Optimisers


def _sgd(param: Any, grad: Any, *, lr: float, weight_decay: float) -> Any:
    return optimizers.SGD(lr, weight_decay=weight_decay).apply_single(grad, param, {})


def _adamw(
    param: Any, grad: Any, exp_avg: Any, exp_avg_sq: Any, *, lr: float, beta1: float, beta2: float, eps: float,
    weight_decay: float, step: int,
) -> Any:  # fmt: skip
    adamw = optimizers.AdamW(lr, [beta1, beta2], eps, weight_decay, bias_correction=True)
    adamw.state["step"] = mx.array(step, mx.uint64)
    state = {"m": exp_avg, "v": exp_avg_sq}
    return adamw.apply_single(grad, param, state), state["m"], state["v"]


TABLE: dict[str, Callable[..., Any]] = {
    "softmax": lambda x, *, dim: mx.softmax(x, axis=dim),
    "log_softmax": lambda x, *, dim: nn.log_softmax(x, dim),
    "layer_norm": _layer_norm,
    "rms_norm": lambda x, weight=None, *, eps: mx.fast.rms_norm(x, weight, eps),
    "group_norm": _group_norm,
    "instance_norm": _instance_norm,
    "batch_norm": _batch_norm,
    "scaled_dot_product_attention": _attention,
    "rope": _rope,
    "conv1d": _conv(mx.conv1d),
    "conv2d": _conv(mx.conv2d),
    "conv3d": _conv(mx.conv3d),
    "conv2d_depthwise": _depthwise,
    "conv_transpose1d": _conv_transpose(mx.conv_transpose1d),
    "conv_transpose2d": _conv_transpose(mx.conv_transpose2d),
    "avg_pool1d": _avg_pool(nn.AvgPool1d),
    "avg_pool2d": _avg_pool(nn.AvgPool2d),
    "upsample_nearest": _upsample(upsample_nearest),
    "upsample_bilinear": _upsample(upsample_linear),
    "upsample_bicubic": _upsample(upsample_cubic),
    "opt_step_sgd": _sgd,
    "opt_step_adamw": _adamw,
}
