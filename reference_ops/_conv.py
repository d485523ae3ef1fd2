"""Convolution of any rank, its gradients, and the transposed convolution made of them.

Shapes: x (n, c, *size), weight (o, c / groups, *kernel), bias (o,); y (n, o, *out). A convolution is
a matrix product of the weights with the windows of x (Chellapilla, Puri, Simard, 2006), per group.
"""

import math
from dataclasses import dataclass

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._windows import Sizes, columns, fold, padded, per_axis, unpadded


@dataclass(frozen=True)
class Geometry:
    """How the windows lie: one number per spatial axis, and the number of groups."""

    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int


def geometry(rank: int, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int) -> Geometry:
    """Parameters as PyTorch takes them (a number or one per axis)."""
    return Geometry(per_axis(stride, rank), per_axis(padding, rank), per_axis(dilation, rank), groups)


def _matrix(
    x: Array, kernel: tuple[int, ...], how: Geometry, count: tuple[int, ...] | None = None
) -> tuple[Array, tuple[int, ...]]:
    """Windows of x as (n, groups, c / groups * kernel, out), and the output's spatial shape."""
    cols = columns(padded(x, how.padding, how.padding), kernel, how.stride, how.dilation, count)
    out = cols.shape[2 + len(kernel) :]
    n, c = x.shape[:2]
    return np.reshape(cols, (n, how.groups, c // how.groups * math.prod(kernel), math.prod(out))), out


def _ask_for_something(x: Array, weight: Array, channels: int) -> None:
    """Raise ValueError where there are no channels to make, no kernel or no space, as PyTorch does."""
    if not channels or 0 in (*weight.shape[2:], *x.shape[2:]):
        raise ValueError(f"a convolution of {x.shape} with {weight.shape} has nothing to make, or to make it of")


def conv(x: Array, weight: Array, bias: Array | None, how: Geometry, count: tuple[int, ...] | None = None) -> Array:
    """The convolution (in fact the correlation, as in every deep-learning library); its first `count` outputs."""
    o, kernel = weight.shape[0], weight.shape[2:]
    if count is None:
        _ask_for_something(x, weight, o)
    cols, out = _matrix(x, kernel, how, count)
    if count is None and 0 in out:
        raise ValueError(f"a kernel of {kernel} does not fit on {x.shape[2:]}")
    w = np.reshape(weight, (how.groups, o // how.groups, cols.shape[2]))
    y = np.reshape(np.matmul(w, cols), (x.shape[0], o, *out))
    return y if bias is None else y + np.reshape(bias, (o, *(1,) * len(kernel)))


def conv_dx(g: Array, weight: Array, size: tuple[int, ...], how: Geometry) -> Array:
    """Gradient of `conv` with respect to x, whose spatial shape is `size`."""
    n, o, out = g.shape[0], weight.shape[0], g.shape[2:]
    per_group, kernel = weight.shape[1], weight.shape[2:]
    w = np.reshape(weight, (how.groups, o // how.groups, per_group * math.prod(kernel)))
    grouped = np.reshape(g, (n, how.groups, o // how.groups, math.prod(out)))
    cols = np.reshape(np.matmul(np.swapaxes(w, 1, 2), grouped), (n, how.groups * per_group, *kernel, *out))
    wide = tuple(s + 2 * p for s, p in zip(size, how.padding, strict=True))
    return unpadded(fold(cols, wide, how.stride, how.dilation), how.padding, size)


def conv_dweight(g: Array, x: Array, shape: tuple[int, ...], how: Geometry) -> Array:
    """Gradient of `conv` with respect to the weight, of that `shape`: one long sum over batch and space."""
    cols, out = _matrix(x, shape[2:], how, g.shape[2:])
    n, length = g.shape[0], math.prod(out)
    grouped = np.reshape(g, (n, how.groups, shape[0] // how.groups, length))
    left = np.reshape(np.transpose(grouped, (1, 2, 0, 3)), (how.groups, shape[0] // how.groups, n * length))
    right = np.reshape(np.transpose(cols, (1, 0, 3, 2)), (how.groups, n * length, cols.shape[2]))
    return np.reshape(np.matmul(left, right), shape)


def conv_vjp(g: Array, x: Array, weight: Array, bias: Array | None, how: Geometry) -> tuple[Array, Array, Array | None]:
    """All three gradients of `conv`."""
    dbias = None if bias is None else np.sum(g, axis=(0, *range(2, g.ndim)))
    return conv_dx(g, weight, x.shape[2:], how), conv_dweight(g, x, weight.shape, how), dbias


def transposed_size(
    size: tuple[int, ...], kernel: tuple[int, ...], how: Geometry, extra: tuple[int, ...]
) -> tuple[int, ...]:
    """Spatial shape of a transposed convolution's output; `extra` rows and columns that no kernel need reach.

    Raises ValueError where it has no elements, or `extra` ones that the next step would reach, as PyTorch does.
    """
    axes = zip(size, kernel, how.stride, how.padding, how.dilation, extra, strict=True)
    made = tuple((n - 1) * s - 2 * p + d * (k - 1) + e + 1 for n, k, s, p, d, e in axes)
    if min(made, default=1) < 1 or any(e >= max(s, d) for e, s, d in zip(extra, how.stride, how.dilation, strict=True)):
        raise ValueError(f"a transposed convolution does not make {made}, of which {extra} are beyond its kernel")
    return made


def conv_transpose(x: Array, weight: Array, bias: Array | None, how: Geometry, extra: tuple[int, ...]) -> Array:
    """The transposed convolution: what `conv` with this weight (c, o / groups, *kernel) has as its dx."""
    _ask_for_something(x, weight, math.prod(weight.shape[:2]))
    y = conv_dx(x, weight, transposed_size(x.shape[2:], weight.shape[2:], how, extra), how)
    return y if bias is None else y + np.reshape(bias, (bias.shape[0], *(1,) * (x.ndim - 2)))


def conv_transpose_vjp(
    g: Array, x: Array, weight: Array, bias: Array | None, how: Geometry
) -> tuple[Array, Array, Array | None]:
    """All three gradients of `conv_transpose`: it is linear in x, and its dx is `conv` itself."""
    dbias = None if bias is None else np.sum(g, axis=(0, *range(2, g.ndim)))
    return conv(g, weight, None, how, x.shape[2:]), conv_dweight(x, g, weight.shape, how), dbias
