"""aidge's operators by ours: matrices, normalisation, softmax. See pointwise.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import aidge_core as aidge
import numpy as np

from opproof.backends.aidge.run import NodeCall, call
from opproof.backends.protocol import Unsupported
from opproof.core.arrays import Array


def _make_ones(shape: tuple[int, ...], x: Array) -> Array:
    return np.ones(shape, x.dtype)


def _make_zeros(shape: tuple[int, ...], x: Array) -> Array:
    return np.zeros(shape, x.dtype)


def _linear(x: Array, weight: Array, bias: Array | None = None) -> NodeCall:
    """FC is of matrices: other axes than the last become one."""
    out, features = weight.shape
    node = aidge.FC(features, out, no_bias=bias is None)
    rows = x if x.ndim == 2 else x.reshape(-1, features)
    given = (rows, weight) if bias is None else (rows, weight, bias)
    return call(node, *given, shape=None if x.ndim == 2 else (*x.shape[:-1], out))


def _matmul(a: Array, b: Array) -> NodeCall:
    """The product of two vectors keeps an axis in aidge."""
    return call(aidge.MatMul(), a, b, shape=() if a.ndim == b.ndim == 1 else None)


def _layer_norm(
    x: Array, weight: Array | None = None, bias: Array | None = None,
    *, normalized_shape: tuple[int, ...], eps: float,
) -> NodeCall:  # fmt: skip
    node = aidge.LayerNorm(list(normalized_shape), x.ndim - len(normalized_shape), eps)
    gamma = _make_ones(normalized_shape, x) if weight is None else weight
    beta = _make_zeros(normalized_shape, x) if bias is None else bias
    return call(node, x, gamma, beta)


def _instance_norm(x: Array, weight: Array | None = None, bias: Array | None = None, *, eps: float) -> NodeCall:
    channels = x.shape[1:2]
    gamma = _make_ones(channels, x) if weight is None else weight
    beta = _make_zeros(channels, x) if bias is None else bias
    return call(aidge.InstanceNorm(channels[0], eps), x, gamma, beta)


def _batch_norm(
    x: Array, running_mean: Array | None = None, running_var: Array | None = None, weight: Array | None = None,
    bias: Array | None = None, *, training: bool, eps: float,
) -> NodeCall:  # fmt: skip
    """In training aidge updates its own moments, which are copies here, and takes the batch's."""
    channels = x.shape[1:2]
    given = [_make_ones(channels, x), _make_zeros(channels, x), _make_zeros(channels, x), _make_ones(channels, x)]
    mean, var = (None, None) if training else (running_mean, running_var)
    feeds = [d if v is None else v for v, d in zip((weight, bias, mean, var), given, strict=True)]
    node = aidge.BatchNorm2D(channels[0], eps, training_mode=training)
    return NodeCall(node, (x, *feeds), (0, 3, 4, 1, 2))


def _local_response_norm(x: Array, *, size: int, alpha: float, beta: float, k: float) -> NodeCall:
    if size % 2 == 0 or beta <= 0:
        raise Unsupported("aidge's LRN wants an odd size and a positive beta")
    if x.ndim < 3:
        raise Unsupported("aidge's LRN wants three axes or more")
    return call(aidge.LRN(size, alpha=alpha, beta=beta, bias=k), x)


def _along(node: Callable[..., Any]) -> Callable[..., NodeCall]:
    return lambda x, *, dim: call(node(dim % max(x.ndim, 1)), x)


def _one_hot(index: Array, *, num_classes: int) -> NodeCall:
    return call(aidge.OneHot(num_classes), index, None, constants=(np.array([0, 1]),))


def _topk(x: Array, *, k: int, dim: int, largest: bool) -> NodeCall:
    node = aidge.TopK()
    node.get_operator().attr.axis = dim % max(x.ndim, 1)
    node.get_operator().attr.largest = largest
    return call(node, x, constants=(np.array([k]),), outputs=(0, 1))


TABLE: dict[str, Callable[..., NodeCall]] = {
    "matmul": _matmul,
    "bmm": _matmul,
    "dot": _matmul,
    "linear": _linear,
    "layer_norm": _layer_norm,
    "instance_norm": _instance_norm,
    "batch_norm": _batch_norm,
    "local_response_norm": _local_response_norm,
    "softmax": _along(aidge.Softmax),
    "log_softmax": _along(aidge.LogSoftmax),
    "one_hot": _one_hot,
    "topk": _topk,
}
