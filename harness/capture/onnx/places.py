"""ONNX's operators that name places: gather and scatter by rows of indices, crop, mark, reverse. See translated.py."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from opproof.harness.capture.onnx.shared import NotOurs, Ref, numbers


def _rows(x: Any, indices: Any, batch_dims: Any = 0) -> Any:
    """How many axes `indices` names together, and the number of each place in them when they are joined."""
    named = batch_dims + indices.shape[-1]
    own = np.indices(indices.shape[:-1])[:batch_dims]
    places = [*own, *(indices[..., i] % x.shape[batch_dims + i] for i in range(indices.shape[-1]))]
    return named, np.ravel(np.ravel_multi_index(places, x.shape[:named]))


def _gather_nd(ref: Ref, x: Any, indices: Any, *, batch_dims: Any = 0) -> Any:
    named, index = _rows(x, indices, batch_dims)
    joined = ref("reshape", x, shape=(math.prod(x.shape[:named]), *x.shape[named:]))
    y = ref("index_select", joined, index, dim=0)
    return ref("reshape", y, shape=(*indices.shape[:-1], *x.shape[named:]))


def _scatter_nd(ref: Ref, x: Any, indices: Any, updates: Any, *, reduction: Any = "none") -> Any:
    """The axes that indices name are joined, and those after them."""
    if reduction not in ("none", "add"):
        raise NotOurs(f"reduction {reduction}")
    named, index = _rows(x, indices)
    joined = ref("reshape", x, shape=(math.prod(x.shape[:named]), -1))
    source = ref("reshape", updates, shape=(index.size, -1))
    if reduction == "none":
        return ref("reshape", ref("set_rows", joined, source, index), shape=x.shape)
    return ref("reshape", ref("index_add", joined, index, source, dim=0), shape=x.shape)


def _compress(ref: Ref, x: Any, condition: Any, *, axis: Any = None) -> Any:
    if axis is None:
        x, axis = ref("reshape", x, shape=(-1,)), 0
    return ref("index_select", x, np.flatnonzero(condition), dim=axis % x.ndim)


def _center_crop_pad(ref: Ref, x: Any, shape: Any, *, axes: Any = None) -> Any:
    dims = range(x.ndim) if axes is None else [a % x.ndim for a in numbers(axes)]
    widths = [0, 0] * x.ndim
    for d, size in zip(dims, numbers(shape), strict=True):
        more = size - x.shape[d]
        before = more // 2 if more > 0 else -(-more // 2)
        widths[2 * (x.ndim - 1 - d) : 2 * (x.ndim - d)] = [before, more - before]
    return ref("pad", x, pad=tuple(widths), value=(float if x.dtype.kind == "f" else int)(0))


def _eye_like(ref: Ref, x: Any, *, k: Any = 0, dtype: Any = None) -> Any:
    ones = ref("fill", x, value=1.0 if x.dtype.kind == "f" else 1)
    return ref("tril", ref("triu", ones, diagonal=k), diagonal=k)


def _reverse_sequence(ref: Ref, x: Any, lengths: Any, *, batch_axis: Any = 1, time_axis: Any = 0) -> Any:
    steps = np.arange(x.shape[time_axis])
    index = np.stack([np.where(steps < n, n - 1 - steps, steps) for n in numbers(lengths)])  # (batch, time)
    index = index if batch_axis < time_axis else index.T
    shape = [n if a in (batch_axis, time_axis) else 1 for a, n in enumerate(x.shape)]
    return ref("take_along_dim", x, index.reshape(shape), dim=time_axis)


def _tensor_scatter(ref: Ref, x: Any, update: Any, starts: Any = None, *, axis: Any = -2, mode: Any = "linear") -> Any:
    """The update of each batch written along `axis` from its start on, round the end where circular."""
    dim = axis % x.ndim
    begin = np.zeros(x.shape[0], np.int64) if starts is None else starts
    places = (begin[:, None] + np.arange(update.shape[dim])) % x.shape[dim]
    shape = [n if a in (0, dim) else 1 for a, n in enumerate(update.shape)]
    return ref("scatter", x, np.broadcast_to(places.reshape(shape), update.shape), update, dim=dim)


PLACES: dict[str, Callable[..., Any]] = {
    "CenterCropPad": _center_crop_pad,
    "Compress": _compress,
    "EyeLike": _eye_like,
    "GatherND": _gather_nd,
    "ReverseSequence": _reverse_sequence,
    "ScatterND": _scatter_nd,
    "TensorScatter": _tensor_scatter,
}
