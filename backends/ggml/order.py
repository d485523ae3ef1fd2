"""ggml's operators whose results are places: order, largest elements, equal ones."""

from __future__ import annotations

import math
from typing import Any

from opproof.backends.ggml.graph import Graph, Tensor
from opproof.backends.ggml.rows import reduce_shape
from opproof.backends.ggml.views import (
    ensure_contiguous,
    ensure_rows,
    move_back,
    move_to_last,
    permute,
    reshape,
    take_part,
)
from opproof.backends.protocol import Unsupported

_SORT_ORDER_ASC, _SORT_ORDER_DESC = 0, 1  # enum ggml_sort_order


def argmax(g: Graph, x: Tensor, *, dim: int | None, keepdim: bool) -> Tensor:
    """Of a matrix, one index a row."""
    n = len(x.shape)
    dims = list(range(n)) if dim is None else [dim % n]
    y = permute(g, x, [*(d for d in range(n) if d not in dims), *dims])
    width = math.prod(x.shape[d] for d in dims)
    if not width:
        raise Unsupported("ggml_argmax of nothing")
    y = g.call("ggml_argmax", ensure_rows(g, reshape(g, y, (math.prod(x.shape) // width, width))))
    return reshape(g, Tensor(y.pointer, g.sizes(y.pointer)[:1]), reduce_shape(x.shape, dims, keepdim=keepdim))


def count_equal(g: Graph, a: Tensor, b: Tensor) -> Tensor:
    return g.call("ggml_count_equal", g.integers(a), g.integers(b), shape=())


def argsort(g: Graph, x: Tensor, *, dim: int, descending: bool) -> Tensor:
    order = _SORT_ORDER_DESC if descending else _SORT_ORDER_ASC
    return move_back(g, g.call("ggml_argsort", ensure_rows(g, move_to_last(g, x, dim)), order), dim)


def sort(g: Graph, x: Tensor, *, dim: int, descending: bool) -> list[Tensor]:
    """The values are ggml_get_rows of rows of one element."""
    order = _SORT_ORDER_DESC if descending else _SORT_ORDER_ASC
    row = ensure_contiguous(g, move_to_last(g, x, dim))
    indices = g.call("ggml_argsort", row, order)
    return [move_back(g, _pick_rows(g, row, indices), dim), move_back(g, indices, dim)]


def topk(g: Graph, x: Tensor, *, k: int, dim: int, largest: bool) -> list[Tensor]:
    """ggml_top_k leaves the order open; the first k of ggml_argsort are in order."""
    row = ensure_contiguous(g, move_to_last(g, x, dim))
    order = g.call("ggml_argsort", row, _SORT_ORDER_DESC if largest else _SORT_ORDER_ASC)
    indices = g.call("ggml_cont", take_part(g, order, -1, 0, k))
    return [move_back(g, _pick_rows(g, row, indices), dim), move_back(g, indices, dim)]


def _pick_rows(g: Graph, row: Tensor, indices: Tensor) -> Tensor:
    count = math.prod(row.shape[:-1])
    if not row.shape:
        raise Unsupported("a scalar has no row")
    if g.gradient and count != 1:
        raise Unsupported("ggml_get_rows has a backward pass for one matrix only, not for a batch")
    table = reshape(g, row, (count, row.shape[-1], 1))
    flat = reshape(g, indices, (count, indices.shape[-1]))
    return reshape(g, g.call("ggml_get_rows", table, flat), indices.shape)


TABLE: dict[str, Any] = {f.__name__: f for f in (argmax, count_equal, argsort, sort, topk)}
