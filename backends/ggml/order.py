"""ggml's operators whose results are places: order, largest elements, equal ones."""

from __future__ import annotations

import math
from typing import Any

from opproof.backends.ggml.graph import Graph, Tensor
from opproof.backends.ggml.rows import reduced
from opproof.backends.ggml.views import back, cont, last, part, permute, reshape, rows
from opproof.backends.protocol import Unsupported

_ASCENDING, _DESCENDING = 0, 1  # enum ggml_sort_order


def argmax(g: Graph, x: Tensor, *, dim: int | None, keepdim: bool) -> Tensor:
    """Of a matrix, one index a row."""
    n = len(x.shape)
    dims = list(range(n)) if dim is None else [dim % n]
    y = permute(g, x, [*(d for d in range(n) if d not in dims), *dims])
    width = math.prod(x.shape[d] for d in dims)
    if not width:
        raise Unsupported("ggml_argmax of nothing")
    y = g.call("ggml_argmax", rows(g, reshape(g, y, (math.prod(x.shape) // width, width))))
    return reshape(g, Tensor(y.pointer, g.sizes(y.pointer)[:1]), reduced(x.shape, dims, keepdim=keepdim))


def count_equal(g: Graph, a: Tensor, b: Tensor) -> Tensor:
    return g.call("ggml_count_equal", g.integers(a), g.integers(b), shape=())


def argsort(g: Graph, x: Tensor, *, dim: int, descending: bool) -> Tensor:
    order = _DESCENDING if descending else _ASCENDING
    return back(g, g.call("ggml_argsort", rows(g, last(g, x, dim)), order), dim)


def sort(g: Graph, x: Tensor, *, dim: int, descending: bool) -> list[Tensor]:
    """The values are ggml_get_rows of rows of one element."""
    order = _DESCENDING if descending else _ASCENDING
    row = cont(g, last(g, x, dim))
    indices = g.call("ggml_argsort", row, order)
    return [back(g, _picked(g, row, indices), dim), back(g, indices, dim)]


def topk(g: Graph, x: Tensor, *, k: int, dim: int, largest: bool) -> list[Tensor]:
    """ggml_top_k leaves the order open; the first k of ggml_argsort are in order."""
    row = cont(g, last(g, x, dim))
    order = g.call("ggml_argsort", row, _DESCENDING if largest else _ASCENDING)
    indices = g.call("ggml_cont", part(g, order, -1, 0, k))
    return [back(g, _picked(g, row, indices), dim), back(g, indices, dim)]


def _picked(g: Graph, row: Tensor, indices: Tensor) -> Tensor:
    count = math.prod(row.shape[:-1])
    if not row.shape:
        raise Unsupported("a scalar has no row")
    if g.gradient and count != 1:
        raise Unsupported("ggml_get_rows has a backward pass for one matrix only, not for a batch")
    table = reshape(g, row, (count, row.shape[-1], 1))
    flat = reshape(g, indices, (count, indices.shape[-1]))
    return reshape(g, g.call("ggml_get_rows", table, flat), indices.shape)


TABLE: dict[str, Any] = {f.__name__: f for f in (argmax, count_equal, argsort, sort, topk)}
