"""MLX's functions by operator: what moves, picks and sorts. See pointwise.py."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any

import mlx.core as mx
import numpy as np

from opproof.backends.protocol import Unsupported
from opproof.backends.table import decline_params


def _pad(x: Any, *, pad: tuple[int, ...], mode: str, value: float | None) -> Any:
    names: dict[str, Any] = {"constant": "constant", "replicate": "edge", "reflect": "reflect"}
    if mode not in names or min(pad, default=0) < 0:
        raise Unsupported("MLX's pad is constant, edge or reflect, and takes no cells away")
    widths = [(0, 0)] * (x.ndim - len(pad) // 2) + list(zip(pad[::2], pad[1::2], strict=True))[::-1]
    return mx.pad(x, widths, mode=names[mode], constant_values=mx.array(0 if value is None else value, x.dtype))


def _expand(x: Any, *, shape: tuple[int, ...]) -> Any:
    lead = len(shape) - x.ndim
    return mx.broadcast_to(x, [x.shape[i - lead] if n == -1 else n for i, n in enumerate(shape)])


def _at(dim: int, index: Any) -> tuple[Any, ...]:
    return (*(slice(None),) * dim, index)


def _slice(x: Any, *, dim: int, start: int, end: int | None, step: int) -> Any:
    return x[_at(dim % x.ndim, slice(start, end, step))]


def _set(a: Any, b: Any, *, offset: tuple[int, ...]) -> Any:
    return mx.slice_update(a, b, mx.array(offset), list(range(a.ndim)))


def _places(index: Any, dim: int) -> tuple[Any, ...]:
    """Indices of all axes, `index` for `dim` and their own for the others, as at[] takes them."""
    own = np.indices(index.shape, sparse=True)
    return tuple(index if d == dim else mx.array(g) for d, g in enumerate(own))


def _gather(x: Any, index: Any, *, dim: int) -> Any:
    dim %= x.ndim
    part = tuple(slice(None) if d == dim else slice(n) for d, n in enumerate(index.shape))
    return mx.take_along_axis(x[part], index, axis=dim)


def _scatter(x: Any, index: Any, src: Any, *, dim: int) -> Any:
    if any(m != n for d, (m, n) in enumerate(zip(index.shape, x.shape, strict=True)) if d != dim % x.ndim):
        raise Unsupported("MLX's put_along_axis wants indices as large as x on the other axes")
    return mx.put_along_axis(x, index, src, axis=dim)


def _set_rows(x: Any, source: Any, indices: Any) -> Any:
    batch = x.shape[:-2]
    index = mx.broadcast_to(indices, (*batch, indices.shape[-1]))
    lead = [mx.array(g) for g in np.indices((*batch, 1), sparse=True)[:-1]]
    y = mx.array(x)
    y[(*lead, index)] = source
    return y


def _ascending(function: Callable[..., Any]) -> Callable[..., Any]:
    def sort(x: Any, *, dim: int, descending: bool) -> Any:
        if descending:
            raise Unsupported("MLX sorts upwards only")
        return function(x, dim)

    return sort


def _index_add(x: Any, index: Any, source: Any, *, dim: int, alpha: float) -> Any:
    return x.at[_at(dim % x.ndim, index)].add(alpha * source)


def _as_strided(x: Any, *, size: tuple[int, ...], stride: tuple[int, ...], storage_offset: int) -> Any:
    return mx.as_strided(x, size, stride, storage_offset)


def _cast(x: Any, *, to: str) -> Any:
    if to not in DTYPES:
        raise Unsupported(f"MLX has no {to}")
    return x.astype(DTYPES[to]).astype(x.dtype)


DTYPES = {
    "f32": mx.float32, "f16": mx.float16, "bf16": mx.bfloat16, "i8": mx.int8, "i16": mx.int16, "i32": mx.int32,
}  # fmt: skip

TABLE: dict[str, Callable[..., Any]] = {
    "reshape": lambda x, *, shape: mx.reshape(x, shape),
    "permute": lambda x, *, dims: mx.transpose(x, dims),
    "transpose": lambda x, *, dim0, dim1: mx.swapaxes(x, dim0, dim1),
    "cast": _cast,
    "contiguous": mx.contiguous,
    "as_strided": _as_strided,
    "expand": _expand,
    "concat": lambda *xs, dim: mx.concatenate(list(xs), axis=dim),
    "stack": lambda *xs, dim: mx.stack(list(xs), axis=dim),
    "split": lambda x, *, sizes, dim: mx.split(x, list(accumulate(sizes[:-1])), axis=dim),
    "repeat": lambda x, *, repeats: mx.tile(x, repeats),
    "repeat_interleave": lambda x, *, repeats, dim: mx.repeat(x, repeats, axis=dim),
    "slice": _slice,
    "set": _set,
    "pad": _pad,
    "roll": lambda x, *, shifts, dims: mx.roll(x, shifts, dims),
    "flip": lambda x, *, dims: mx.flip(x, dims),
    "fill": lambda x, *, value: mx.full_like(x, value),
    "arange": lambda *, start, end, step: mx.arange(start, end, step),
    "embedding": decline_params("mx.take", lambda weight, indices: mx.take(weight, indices, axis=0), "padding_idx"),
    "index_select": lambda x, index, *, dim: mx.take(x, index, axis=dim),
    "index_add": _index_add,
    "gather": _gather,
    "take_along_dim": lambda x, indices, *, dim: mx.take_along_axis(x, indices, axis=dim),
    "scatter": _scatter,
    "scatter_add": lambda x, index, src, *, dim: x.at[_places(index, dim % x.ndim)].add(src),
    "set_rows": _set_rows,
    "sort": _ascending(lambda x, dim: (mx.sort(x, axis=dim), mx.argsort(x, axis=dim))),
    "argsort": _ascending(lambda x, dim: mx.argsort(x, axis=dim)),
}
