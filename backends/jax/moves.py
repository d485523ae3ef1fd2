"""JAX's functions by operator: what moves, picks and sorts. See pointwise.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from opproof.backends.protocol import Unsupported
from opproof.backends.table import decline_params
from opproof.core.dtypes import DTYPES


def _pad(x: Any, *, pad: tuple[int, ...], mode: str, value: float | None) -> Any:
    widths = [(0, 0)] * (x.ndim - len(pad) // 2) + list(zip(pad[::2], pad[1::2], strict=True))[::-1]
    if mode == "constant":  # jnp.pad refuses to take cells away, lax.pad does not
        fill = jnp.array(0 if value is None else value, x.dtype)
        return jax.lax.pad(x, fill, [(before, after, 0) for before, after in widths])
    if min(pad) < 0:
        raise Unsupported("JAX takes cells away only with constant padding")
    return jnp.pad(x, widths, mode={"reflect": "reflect", "replicate": "edge", "circular": "wrap"}[mode])


def _expand(x: Any, *, shape: tuple[int, ...]) -> Any:
    lead = len(shape) - x.ndim
    return jnp.broadcast_to(x, [x.shape[i - lead] if n == -1 else n for i, n in enumerate(shape)])


def _at(dim: int, index: Any) -> tuple[Any, ...]:
    return (*(slice(None),) * dim, index)


def _places_of(index: Any, dim: int) -> tuple[Any, ...]:
    """Indices of all axes, `index` for `dim` and their own for the others, as at[] takes them."""
    return tuple(index if d == dim else g for d, g in enumerate(np.indices(index.shape, sparse=True)))


def _gather(x: Any, index: Any, *, dim: int) -> Any:
    dim %= x.ndim
    part = tuple(slice(None) if d == dim else slice(n) for d, n in enumerate(index.shape))
    return jnp.take_along_axis(x[part], index, axis=dim)


def _index_add(x: Any, index: Any, source: Any, *, dim: int, alpha: float) -> Any:
    return x.at[_at(dim % x.ndim, index)].add(alpha * source)


def _scatter(x: Any, index: Any, src: Any, *, dim: int) -> Any:
    return x.at[_places_of(index, dim % x.ndim)].set(src)


def _scatter_add(x: Any, index: Any, src: Any, *, dim: int) -> Any:
    return x.at[_places_of(index, dim % x.ndim)].add(src)


def _set_rows(x: Any, source: Any, indices: Any) -> Any:
    batch = x.shape[:-2]
    index = jnp.broadcast_to(indices, (*batch, indices.shape[-1]))
    lead = np.indices((*batch, 1), sparse=True)[:-1]
    return x.at[(*lead, index)].set(source)


def _slice(x: Any, *, dim: int, start: int, end: int | None, step: int) -> Any:
    first, last, _ = slice(start, end).indices(x.shape[dim])
    return jax.lax.slice_in_dim(x, first, max(first, last), stride=step, axis=dim)


def _sort(x: Any, *, dim: int, descending: bool) -> Any:
    return jnp.sort(x, axis=dim, descending=descending), jnp.argsort(x, axis=dim, descending=descending)


def _topk(x: Any, *, k: int, dim: int, largest: bool) -> Any:
    if not largest:
        raise Unsupported("JAX's top_k has the largest only")
    return jax.lax.top_k(x, k, axis=dim)


def _bitcast(x: Any, *, of: str, to: str) -> Any:
    bits = jax.lax.bitcast_convert_type(x.astype(DTYPES[of].numpy), np.dtype(f"i{int(to[1:]) // 8}"))
    return bits if to == "i64" else bits.astype(jnp.int32)


def _compress(x: Any, condition: Any, *, dim: int, size: int, fill_value: float) -> Any:
    if not 0 < size <= x.shape[dim]:
        raise Unsupported("jnp.compress gives one slice at least, and no more than there are")
    return jnp.compress(condition != 0, x, axis=dim, size=size, fill_value=fill_value)


def _gather_nd(x: Any, indices: Any, *, batch_dims: int) -> Any:
    """Batches by jax.vmap, as lax.gather has them."""

    def pick(one: Any, places: Any) -> Any:
        return one[tuple(jnp.moveaxis(places, -1, 0))]

    for _ in range(batch_dims):
        pick = jax.vmap(pick)
    return pick(x, indices)


TABLE: dict[str, Callable[..., Any]] = {
    "reshape": lambda x, *, shape: jnp.reshape(x, shape),
    "permute": lambda x, *, dims: jnp.transpose(x, dims),
    "transpose": lambda x, *, dim0, dim1: jnp.swapaxes(x, dim0, dim1),
    "cast": lambda x, *, to: x.astype(DTYPES[to].numpy).astype(x.dtype),
    "contiguous": jnp.copy,
    "expand": _expand,
    "concat": lambda *xs, dim: jnp.concatenate(xs, axis=dim),
    "stack": lambda *xs, dim: jnp.stack(xs, axis=dim),
    "split": lambda x, *, sizes, dim: jax.lax.split(x, sizes, dim % x.ndim),
    "repeat": lambda x, *, repeats: jnp.tile(x, repeats),
    "repeat_interleave": lambda x, *, repeats, dim: jnp.repeat(x, repeats, axis=dim),
    "slice": _slice,
    "set": lambda a, b, *, offset: jax.lax.dynamic_update_slice(a, b, offset),
    "pad": _pad,
    "roll": lambda x, *, shifts, dims: jnp.roll(x, shifts, dims),
    "flip": lambda x, *, dims: jnp.flip(x, dims),
    "fill": lambda x, *, value: jnp.full_like(x, value),
    "arange": lambda *, start, end, step: jnp.arange(start, end, step),
    "eye": lambda *, n, m, k: jnp.eye(n, m, k),
    "one_hot": lambda index, *, num_classes: jax.nn.one_hot(index, num_classes, dtype=index.dtype),
    "embedding": decline_params("jnp.take", lambda weight, indices: jnp.take(weight, indices, axis=0), "padding_idx"),
    "index_select": lambda x, index, *, dim: jnp.take(x, index, axis=dim),
    "index_add": _index_add,
    "gather": _gather,
    "take_along_dim": lambda x, indices, *, dim: jnp.take_along_axis(x, indices, axis=dim),
    "scatter": _scatter,
    "scatter_add": _scatter_add,
    "set_rows": _set_rows,
    "sort": _sort,
    "argsort": lambda x, *, dim, descending: jnp.argsort(x, axis=dim, descending=descending),
    "topk": _topk,
    "constant": lambda *, value, size, to: (
        jnp.array(value, jnp.float32).astype(DTYPES[to].numpy).astype(jnp.float32).reshape(size)
    ),
    "bitcast": _bitcast,
    "compress": _compress,
    "gather_nd": _gather_nd,
}
