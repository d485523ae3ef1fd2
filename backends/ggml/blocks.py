"""ggml's operators on parts of a tensor: blocks, rows by index, triangles."""

from __future__ import annotations

import ctypes
import math
from typing import Any

from opproof.backends.ggml.graph import Graph, Tensor
from opproof.backends.ggml.views import cast, ensure_contiguous, ensure_owned, ensure_rows, item_size_of, reshape
from opproof.backends.protocol import Unsupported

_TRI_TYPE_UPPER_DIAG, _TRI_TYPE_UPPER, _TRI_TYPE_LOWER_DIAG, _TRI_TYPE_LOWER = range(4)  # enum ggml_tri_type


def set_(g: Graph, a: Tensor, b: Tensor, *, offset: tuple[int, ...]) -> Tensor:
    whole = ensure_contiguous(g, a)
    steps = [s // item_size_of(g, a) for s in reversed(g.strides(whole.pointer)[: len(a.shape)])]
    return _call_into("ggml_set", g, whole, b, steps, sum(o * s for o, s in zip(offset, steps, strict=True)))


def acc(g: Graph, a: Tensor, b: Tensor, *, stride: tuple[int, ...], offset: int) -> Tensor:
    if b.shape and b.shape[-1] != 1 and stride[-1] != 1:
        raise Unsupported("ggml_acc adds rows whose elements follow one another")
    return _call_into("ggml_acc", g, ensure_contiguous(g, a), b, list(stride), offset)


def _call_into(name: str, g: Graph, a: Tensor, b: Tensor, steps: list[int], offset: int) -> Tensor:
    """A call that takes nb1, nb2, nb3 and an offset in bytes."""
    size = item_size_of(g, a)
    outer = [s * size for s in reversed(steps[:-1])]
    nb = [*outer, *([math.prod(a.shape) * size] * 3)][:3]
    return g.call(name, a, ensure_rows(g, b), *map(ctypes.c_size_t, nb), ctypes.c_size_t(offset * size))


def embedding(g: Graph, weight: Tensor, indices: Tensor, *, padding_idx: int | None = None) -> Tensor:
    """ggml_get_rows gives f32 whatever the table is."""
    if padding_idx is not None:
        raise Unsupported("ggml_get_rows has no padding_idx")
    flat = reshape(g, g.integers(indices), (math.prod(indices.shape),))
    y = g.call("ggml_get_rows", ensure_rows(g, weight), flat, shape=(math.prod(indices.shape), weight.shape[-1]))
    return cast(g, reshape(g, y, (*indices.shape, weight.shape[-1])), g.type(weight))


def index_select(g: Graph, x: Tensor, index: Tensor, *, dim: int) -> Tensor:
    """Along the first axis: whole rows of all that follows."""
    dim %= len(x.shape)
    if dim:
        raise Unsupported("ggml_get_rows selects along one axis only")
    table = reshape(g, x, (x.shape[0], math.prod(x.shape[1:])))
    return reshape(g, embedding(g, table, index), (*index.shape, *x.shape[1:]))


def take_along_dim(g: Graph, x: Tensor, indices: Tensor, *, dim: int) -> Tensor:
    """Whole rows of tables in batches, each table with places of its own."""
    rank = len(x.shape)
    if dim % rank != rank - 2 or indices.shape[-1] != 1 or indices.shape[:-2] != x.shape[:-2]:
        raise Unsupported("ggml_get_rows takes whole rows, of as many tables as there are lists of places")
    if g.gradient and math.prod(x.shape[:-2]) != 1:
        raise Unsupported("ggml_get_rows has a backward pass for one matrix only, not for a batch")
    places = reshape(g, g.integers(indices), indices.shape[:-1])
    y = g.call("ggml_get_rows", ensure_rows(g, x), places, shape=(*indices.shape[:-1], x.shape[-1]))
    return cast(g, y, g.type(x))


def set_rows(g: Graph, x: Tensor, source: Tensor, indices: Tensor) -> Tensor:
    """It writes into x, so it gets a copy unless the result belongs there. Its source is f32, indices may be int64."""
    if len(indices.shape) > 3:
        raise Unsupported("ggml_set_rows takes indices of at most 3 axes")
    return g.call("ggml_set_rows", ensure_owned(g, x), cast(g, ensure_rows(g, source), "f32"), indices)


def diag(g: Graph, x: Tensor, *, diagonal: int) -> Tensor:
    if len(x.shape) != 1 or diagonal:
        raise Unsupported("ggml_diag makes matrices of vectors, on the main diagonal only")
    return g.call("ggml_diag", ensure_rows(g, x), shape=(*x.shape, *x.shape))


def diag_mask_inf(g: Graph, x: Tensor, *, n_past: int) -> Tensor:
    return g.call("ggml_diag_mask_inf", ensure_contiguous(g, x), n_past)


def diag_mask_zero(g: Graph, x: Tensor, *, n_past: int) -> Tensor:
    return g.call("ggml_diag_mask_zero", ensure_contiguous(g, x), n_past)


def _call_triangle(g: Graph, x: Tensor, kinds: dict[int, int], diagonal: int) -> Tensor:
    if diagonal not in kinds or len(x.shape) < 2 or x.shape[-1] != x.shape[-2]:
        raise Unsupported("ggml_tri takes square matrices, with or without the main diagonal")
    return g.call("ggml_tri", ensure_contiguous(g, x), kinds[diagonal])


def tril(g: Graph, x: Tensor, *, diagonal: int) -> Tensor:
    return _call_triangle(g, x, {0: _TRI_TYPE_LOWER_DIAG, -1: _TRI_TYPE_LOWER}, diagonal)


def triu(g: Graph, x: Tensor, *, diagonal: int) -> Tensor:
    return _call_triangle(g, x, {0: _TRI_TYPE_UPPER_DIAG, 1: _TRI_TYPE_UPPER}, diagonal)


TABLE: dict[str, Any] = {
    "set": set_,
    **{
        f.__name__: f
        for f in (
            acc,
            embedding,
            index_select,
            take_along_dim,
            set_rows,
            diag,
            diag_mask_inf,
            diag_mask_zero,
            tril,
            triu,
        )
    },
}
