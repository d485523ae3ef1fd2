"""JAX's functions by operator: normalisation, softmax, convolution and pooling. See _jax_ops.py for the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

Sizes = int | tuple[int, ...]


def _per_axis(value: Sizes, n: int) -> tuple[int, ...]:
    return (value,) * n if isinstance(value, int) else tuple(value)


# Normalisation. jax.nn.standardize's default algorithm is "fast", the mean of x² less the square of the mean, which
# cancels where the mean is large (docs/backends/jax.md); "stable" is the one to be measured against.


def _affine(unit: Any, weight: Any, bias: Any) -> Any:
    y = unit if weight is None else unit * weight
    return y if bias is None else y + bias


def _channels(v: Any, rank: int) -> Any:
    return None if v is None else v.reshape((1, -1) + (1,) * (rank - 2))


def _layer_norm(
    x: Any, weight: Any = None, bias: Any = None, *, normalized_shape: tuple[int, ...], eps: float
) -> Any:
    axes = tuple(range(-len(normalized_shape), 0))
    return _affine(jax.nn.standardize(x, axes, epsilon=eps, algorithm="stable"), weight, bias)


def _group_norm(x: Any, weight: Any = None, bias: Any = None, *, num_groups: int, eps: float) -> Any:
    groups = x.reshape((x.shape[0], num_groups, x.shape[1] // num_groups, *x.shape[2:]))
    unit = jax.nn.standardize(groups, tuple(range(2, groups.ndim)), epsilon=eps, algorithm="stable")
    return _affine(unit.reshape(x.shape), _channels(weight, x.ndim), _channels(bias, x.ndim))


def _instance_norm(x: Any, weight: Any = None, bias: Any = None, *, eps: float) -> Any:
    unit = jax.nn.standardize(x, tuple(range(2, x.ndim)), epsilon=eps, algorithm="stable")
    return _affine(unit, _channels(weight, x.ndim), _channels(bias, x.ndim))


def _batch_norm(
    x: Any, running_mean: Any = None, running_var: Any = None, weight: Any = None, bias: Any = None,
    *, training: bool, eps: float,
) -> Any:  # fmt: skip
    axes = (0, *range(2, x.ndim))
    moments = (None, None) if training else (_channels(running_mean, x.ndim), _channels(running_var, x.ndim))
    unit = jax.nn.standardize(x, axes, *moments, epsilon=eps, algorithm="stable")
    return _affine(unit, _channels(weight, x.ndim), _channels(bias, x.ndim))


# Convolution


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
        return _affine(y, None, _channels(bias, x.ndim))

    return conv


def _im2col(x: Any, *, kernel_size: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes) -> Any:
    pads = [(p, p) for p in _per_axis(padding, 2)]
    kernel, strides, holes = (_per_axis(v, 2) for v in (kernel_size, stride, dilation))
    y = jax.lax.conv_general_dilated_patches(x, kernel, strides, pads, rhs_dilation=holes)
    return y.reshape((*y.shape[:2], -1))


TABLE: dict[str, Callable[..., Any]] = {
    "softmax": lambda x, *, dim: jax.nn.softmax(x, axis=dim),
    "log_softmax": lambda x, *, dim: jax.nn.log_softmax(x, axis=dim),
    "layer_norm": _layer_norm,
    "group_norm": _group_norm,
    "instance_norm": _instance_norm,
    "batch_norm": _batch_norm,
    "conv1d": _conv(1),
    "conv2d": _conv(2),
    "conv3d": _conv(3),
    "im2col": _im2col,
}
