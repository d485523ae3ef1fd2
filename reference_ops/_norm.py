"""Standardisation over some axes and its gradient, shared by layer, group, instance and batch norm."""

import numpy as np

from opproof.core.arrays import Array


def standardise(x: Array, axes: tuple[int, ...], eps: float) -> tuple[Array, Array]:
    """(x - mean) / sqrt(var + eps) with the biased variance of two passes, and 1 / sqrt(var + eps)."""
    centred = x - np.mean(x, axis=axes, keepdims=True)
    scale = 1 / np.sqrt(np.mean(centred * centred, axis=axes, keepdims=True) + eps)
    return centred * scale, scale


def standardise_vjp(g: Array, unit: Array, scale: Array, axes: tuple[int, ...]) -> Array:
    """Gradient through both moments, from the standardised x (Ioffe, Szegedy, Batch Normalization, 2015)."""
    along = np.mean(g * unit, axis=axes, keepdims=True)
    return scale * (g - np.mean(g, axis=axes, keepdims=True) - unit * along)  # type: ignore[no-any-return]


def per_channel(v: Array, rank: int) -> Array:
    """A vector of channels, shaped to multiply a tensor (n, c, ...) of that rank."""
    return np.reshape(v, (1, v.shape[0], *(1,) * (rank - 2)))


def is_lost_in_shifts(x: Array, mean: Array, scale: Array, weight: Array | None, bias: Array | None) -> Array:
    """Where x times a number of its channel, plus another, is none: of an infinite weight.

    Kernels fold the standardisation and the weights into these two: inf - inf.
    """
    factor = scale if weight is None else scale * per_channel(weight, x.ndim)
    shift = -mean * factor if bias is None else per_channel(bias, x.ndim) - mean * factor
    return np.isinf(factor) & np.isnan(x * factor + shift)  # type: ignore[no-any-return]


def moments(x: Array, axes: tuple[int, ...], eps: float) -> tuple[Array, Array]:
    """The mean, and 1 / sqrt(var + eps)."""
    return np.mean(x, axis=axes, keepdims=True), standardise(x, axes, eps)[1]


def affine(unit: Array, weight: Array | None, bias: Array | None) -> Array:
    """Unit weight + bias per channel, each optional."""
    y = unit if weight is None else unit * per_channel(weight, unit.ndim)
    return y if bias is None else y + per_channel(bias, unit.ndim)


def affine_vjp(
    g: Array, unit: Array, weight: Array | None, bias: Array | None
) -> tuple[Array, Array | None, Array | None]:
    """Gradients of `affine` with respect to the standardised x, the weight and the bias."""
    rest = (0, *range(2, g.ndim))
    dunit = g if weight is None else g * per_channel(weight, g.ndim)
    dweight = None if weight is None else np.sum(g * unit, axis=rest)
    return dunit, dweight, None if bias is None else np.sum(g, axis=rest)
