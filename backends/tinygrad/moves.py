"""tinygrad's methods by operator: what moves, picks and sorts. See pointwise.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tinygrad import Tensor, dtypes

from opproof.backends.protocol import Unsupported
from opproof.backends.table import decline_params


def _expand(x: Any, *, shape: tuple[int, ...]) -> Any:
    return x.expand(shape)


def _at(x: Any, dim: int, index: Any) -> Any:
    return x[(*(slice(None),) * (dim % x.ndim), index)]


def _pad(x: Any, *, pad: tuple[int, ...], mode: str, value: float | None) -> Any:
    if mode == "circular" and any(p > x.shape[-1 - i // 2] for i, p in enumerate(pad)):
        raise Unsupported("tinygrad's pad refuses cells that come around twice")
    return x.pad(pad, mode=mode, value=0 if value is None else value)


def _take_along_dim(x: Any, indices: Any, *, dim: int) -> Any:
    if any(m != n for d, (m, n) in enumerate(zip(x.shape, indices.shape, strict=True)) if d != dim % x.ndim):
        raise Unsupported("tinygrad's gather does not broadcast")
    return x.gather(dim, indices)


def _index_add(x: Any, index: Any, source: Any, *, dim: int, alpha: float) -> Any:
    along = [-1 if d == dim % x.ndim else 1 for d in range(x.ndim)]
    return x.scatter_reduce(dim, index.reshape(along).expand(source.shape), source * alpha, "sum")


def _arange(*, start: float, end: float, step: float) -> Any:
    return Tensor.arange(start, end, step, dtype=dtypes.float32)


def _cast(x: Any, *, to: str) -> Any:
    if to not in DTYPES:
        raise Unsupported(f"tinygrad's {to} is not tried")
    return x.cast(DTYPES[to]).cast(x.dtype)


DTYPES = {"f32": dtypes.float32, "f16": dtypes.float16, "bf16": dtypes.bfloat16}

TABLE: dict[str, Callable[..., Any]] = {
    "reshape": lambda x, *, shape: x.reshape(shape),
    "permute": lambda x, *, dims: x.permute(dims),
    "transpose": lambda x, *, dim0, dim1: x.transpose(dim0, dim1),
    "cast": _cast,
    "contiguous": Tensor.contiguous,
    "expand": _expand,
    "concat": lambda *xs, dim: xs[0].cat(*xs[1:], dim=dim),
    "stack": lambda *xs, dim: xs[0].stack(*xs[1:], dim=dim),
    "split": lambda x, *, sizes, dim: x.split(list(sizes), dim),
    "repeat": lambda x, *, repeats: x.repeat(repeats),
    "repeat_interleave": lambda x, *, repeats, dim: x.repeat_interleave(repeats, dim),
    "slice": lambda x, *, dim, start, end, step: _at(x, dim, slice(start, end, step)),
    "pad": _pad,
    "roll": lambda x, *, shifts, dims: x.roll(shifts, dims),
    "flip": lambda x, *, dims: x.flip(dims),
    "fill": lambda x, *, value: x.full_like(value),
    "arange": _arange,
    "one_hot": lambda index, *, num_classes: index.one_hot(num_classes),
    "embedding": decline_params("tinygrad", lambda weight, indices: weight[indices], "padding_idx"),
    "index_select": lambda x, index, *, dim: _at(x, dim, index),
    "index_add": _index_add,
    "gather": lambda x, index, *, dim: x.gather(dim, index),
    "take_along_dim": _take_along_dim,
    "scatter": lambda x, index, src, *, dim: x.scatter(dim, index, src),
    "scatter_add": lambda x, index, src, *, dim: x.scatter_reduce(dim, index, src, "sum"),
    "sort": lambda x, *, dim, descending: x.sort(dim, descending),
    "argsort": lambda x, *, dim, descending: x.argsort(dim, descending),
    "topk": lambda x, *, k, dim, largest: x.topk(k, dim, largest),
}
