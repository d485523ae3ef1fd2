"""MLX's functions by operator: normalisation, softmax, attention. See pointwise.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mlx.core as mx
from mlx import nn

from opproof.backends.mlx.windows import move_channels_last, move_channels_second
from opproof.backends.protocol import Unsupported


def _make_layer(layer: Any, weight: Any, bias: Any, **state: Any) -> Any:
    """A layer of mlx.nn with these weights; both or none, as the layer has them."""
    given = {name: v for name, v in {"weight": weight, "bias": bias, **state}.items() if v is not None}
    for name, value in given.items():
        setattr(layer, name, value)
    return layer


def _has_affine(weight: Any, bias: Any) -> bool:
    if (weight is None) != (bias is None):
        raise Unsupported("the layers of mlx.nn have weight and bias, or neither")
    return weight is not None


def _layer_norm(x: Any, weight: Any = None, bias: Any = None, *, normalized_shape: tuple[int, ...], eps: float) -> Any:
    if len(normalized_shape) != 1:
        raise Unsupported("MLX's layer_norm is over the last axis")
    return mx.fast.layer_norm(x, weight, bias, eps)


def _group_norm(x: Any, weight: Any = None, bias: Any = None, *, num_groups: int, eps: float) -> Any:
    affine = _has_affine(weight, bias)
    layer = nn.GroupNorm(num_groups, x.shape[1], eps, affine=affine, pytorch_compatible=True)
    return move_channels_second(_make_layer(layer, weight, bias)(move_channels_last(x)))


def _instance_norm(x: Any, weight: Any = None, bias: Any = None, *, eps: float) -> Any:
    layer = nn.InstanceNorm(x.shape[1], eps, affine=_has_affine(weight, bias))
    return move_channels_second(_make_layer(layer, weight, bias)(move_channels_last(x)))


def _batch_norm(
    x: Any, running_mean: Any = None, running_var: Any = None, weight: Any = None, bias: Any = None,
    *, training: bool, eps: float,
) -> Any:  # fmt: skip
    if x.ndim > 4 or (training and x.size == x.shape[1]):
        raise Unsupported("MLX's BatchNorm takes up to four axes, and more than one value per channel in training")
    layer = nn.BatchNorm(x.shape[1], eps, affine=_has_affine(weight, bias), track_running_stats=not training)
    layer.train(training)
    moments = {} if training else {"running_mean": running_mean, "running_var": running_var}
    return move_channels_second(_make_layer(layer, weight, bias, **moments)(move_channels_last(x)))


def _attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None, keep: Any = None, sinks: Any = None,
    *, is_causal: bool, scale: float | None, enable_gqa: bool, softcap: float, max_bias: float,  # noqa: ARG001 - the numbers of heads say it
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


def _dropout(x: Any, mask: Any = None, *, p: float, key: int, training: bool) -> tuple[Any, Any]:
    """The mask is what the layer makes of ones, from the same seed."""
    if mask is not None or p >= 1:
        raise Unsupported("mlx.nn.Dropout draws its mask, and keeps some")
    layer = nn.Dropout(p).train(training)
    mx.random.seed(key)
    y = layer(x)
    mx.random.seed(key)
    return y, layer(mx.ones_like(x)) != 0


TABLE: dict[str, Callable[..., Any]] = {
    "dropout": _dropout,
    "softmax": lambda x, *, dim: mx.softmax(x, axis=dim),
    "log_softmax": lambda x, *, dim: nn.log_softmax(x, dim),
    "layer_norm": _layer_norm,
    "rms_norm": lambda x, weight=None, *, eps: mx.fast.rms_norm(x, weight, eps),
    "group_norm": _group_norm,
    "instance_norm": _instance_norm,
    "batch_norm": _batch_norm,
    "scaled_dot_product_attention": _attention,
    "rope": _rope,
}
