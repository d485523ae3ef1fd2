"""JAX's functions by operator: normalisation, softmax, attention, resizing. See pointwise.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from opproof.backends.protocol import Unsupported

# Normalisation. jax.nn.standardize's default algorithm is "fast", the mean of x² less the square of the mean, which
# cancels where the mean is large (docs/reference/backends/jax.md); "stable" is the one to be measured against.


def _apply_affine(unit: Any, weight: Any, bias: Any) -> Any:
    y = unit if weight is None else unit * weight
    return y if bias is None else y + bias


def _reshape_channels(v: Any, rank: int) -> Any:
    return None if v is None else v.reshape((1, -1) + (1,) * (rank - 2))


def _layer_norm(x: Any, weight: Any = None, bias: Any = None, *, normalized_shape: tuple[int, ...], eps: float) -> Any:
    axes = tuple(range(-len(normalized_shape), 0))
    return _apply_affine(jax.nn.standardize(x, axes, epsilon=eps, algorithm="stable"), weight, bias)


def _group_norm(x: Any, weight: Any = None, bias: Any = None, *, num_groups: int, eps: float) -> Any:
    groups = x.reshape((x.shape[0], num_groups, x.shape[1] // num_groups, *x.shape[2:]))
    unit = jax.nn.standardize(groups, tuple(range(2, groups.ndim)), epsilon=eps, algorithm="stable")
    return _apply_affine(unit.reshape(x.shape), _reshape_channels(weight, x.ndim), _reshape_channels(bias, x.ndim))


def _instance_norm(x: Any, weight: Any = None, bias: Any = None, *, eps: float) -> Any:
    unit = jax.nn.standardize(x, tuple(range(2, x.ndim)), epsilon=eps, algorithm="stable")
    return _apply_affine(unit, _reshape_channels(weight, x.ndim), _reshape_channels(bias, x.ndim))


def _batch_norm(
    x: Any, running_mean: Any = None, running_var: Any = None, weight: Any = None, bias: Any = None,
    *, training: bool, eps: float,
) -> Any:  # fmt: skip
    axes = (0, *range(2, x.ndim))
    moments = (
        (None, None) if training else (_reshape_channels(running_mean, x.ndim), _reshape_channels(running_var, x.ndim))
    )
    unit = jax.nn.standardize(x, axes, *moments, epsilon=eps, algorithm="stable")
    return _apply_affine(unit, _reshape_channels(weight, x.ndim), _reshape_channels(bias, x.ndim))


def _attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None, keep: Any = None, sinks: Any = None,
    *, is_causal: bool, scale: float | None, enable_gqa: bool, softcap: float, max_bias: float,  # noqa: ARG001 - the numbers of heads say it
) -> Any:  # fmt: skip
    if sinks is not None or softcap > 0 or max_bias > 0:
        raise Unsupported("JAX's dot_product_attention has no sinks, no softcap and no ALiBi")
    if value.shape[-1] != key.shape[-1]:
        raise Unsupported("JAX's dot_product_attention has values as long as keys only")
    q, k, v = (jnp.swapaxes(x, 1, 2) for x in (query, key, value))
    y = jax.nn.dot_product_attention(
        q,
        k,
        v,
        _to_four_axes(attn_mask),
        None if keep is None else _to_four_axes(keep) != 0,
        scale=scale,
        is_causal=is_causal,
    )
    return jnp.swapaxes(y, 1, 2)


def _to_four_axes(mask: Any) -> Any:
    return None if mask is None else mask.reshape((1,) * (4 - mask.ndim) + mask.shape)


def _upsample(method: str) -> Callable[..., Any]:
    def upsample(x: Any, *, size: tuple[int, int], align_corners: bool = False) -> Any:
        if align_corners:
            raise Unsupported("jax.image.resize cannot align corners")
        if method == "nearest" and any(n % m for n, m in zip(size, x.shape[2:], strict=True)):
            raise Unsupported("jax.image.resize takes the nearest centre; it agrees with floor(i n / out) at multiples")
        return jax.image.resize(x, (*x.shape[:2], *size), method, antialias=False)

    return upsample


def _dropout(x: Any, mask: Any = None, *, p: float, key: int, training: bool) -> tuple[Any, Any]:
    """JAX has the draw alone; the rest is written as flax.linen.Dropout writes it."""
    if not training:
        return x, jnp.ones(x.shape, bool)
    kept = jax.random.bernoulli(jax.random.key(key), 1 - p, x.shape) if mask is None else mask != 0
    return jax.lax.select(kept, x / (1 - p) if p < 1 else x, jnp.zeros_like(x)), kept


TABLE: dict[str, Callable[..., Any]] = {
    "dropout": _dropout,
    "softmax": lambda x, *, dim: jax.nn.softmax(x, axis=dim),
    "log_softmax": lambda x, *, dim: jax.nn.log_softmax(x, axis=dim),
    "layer_norm": _layer_norm,
    "group_norm": _group_norm,
    "instance_norm": _instance_norm,
    "batch_norm": _batch_norm,
    "scaled_dot_product_attention": _attention,
    "upsample_nearest": _upsample("nearest"),
    "upsample_bilinear": _upsample("bilinear"),
}
