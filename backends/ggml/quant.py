"""ggml's quantised types: bytes in blocks, made, read, multiplied and looked up."""

from __future__ import annotations

import math
from typing import Any

from opproof.backends.ggml.graph import Graph, Tensor
from opproof.backends.ggml.library import QUANTISED
from opproof.backends.ggml.rows import make_mask, read_kept
from opproof.backends.ggml.types import types_of
from opproof.backends.ggml.views import cast, ensure_contiguous, ensure_rows, permute, reshape
from opproof.backends.protocol import Unsupported


def _check_type(name: str) -> str:
    if name not in QUANTISED:
        raise Unsupported(f"this adapter knows no quantised type {name} of ggml")
    return name


def quantize(g: Graph, x: Tensor, *, type: str) -> Tensor:  # noqa: A002 - the operator's own name
    size, values = g.block(_check_type(type))
    shape = (*x.shape[:-1], x.shape[-1] // values * size)
    return g.call("ggml_cast", ensure_contiguous(g, x), QUANTISED[type], shape=shape)


def dequantize(g: Graph, data: Tensor, *, type: str) -> Tensor:  # noqa: A002
    return cast(g, g.blocks(data, _check_type(type)), "f32")


def matmul_quantized(g: Graph, a: Tensor, b: Tensor, *, type: str) -> Tensor:  # noqa: A002
    weights = g.blocks(b, _check_type(type))
    vectors = cast(g, ensure_rows(g, a), "f32")
    y = g.call("ggml_mul_mat", weights, vectors, shape=(*a.shape[:-1], weights.shape[0]))
    return cast(g, y, g.type(a))


def outer_product_quantized(g: Graph, a: Tensor, b: Tensor, *, type: str) -> Tensor:  # noqa: A002
    if len(a.shape) > 2:
        raise Unsupported("ggml_out_prod takes no batch beside one quantised matrix")
    matrix = g.blocks(b, _check_type(type))
    y = g.call("ggml_out_prod", matrix, cast(g, ensure_rows(g, a), "f32"), shape=(a.shape[1], matrix.shape[1]))
    return cast(g, y, g.type(a))


def mul_mat_id_quantized(g: Graph, a: Tensor, b: Tensor, ids: Tensor, *, type: str) -> Tensor:  # noqa: A002
    experts = g.blocks(a, _check_type(type))
    shape = (*ids.shape, a.shape[1])
    y = g.call("ggml_mul_mat_id", experts, cast(g, ensure_rows(g, b), "f32"), g.integers(ids), shape=shape)
    return cast(g, y, g.type(b))


def attention_quantized(
    g: Graph, query: Tensor, key: Tensor, value: Tensor, keep: Tensor | None = None,
    *, type: str, scale: float | None,  # noqa: A002
) -> Tensor:  # fmt: skip
    """Its mask is f16, its result permuted."""
    if _check_type(type) not in types_of("ggml_mul_mat", g.library.version):
        raise Unsupported(f"ggml's CPU backend has no product with {type}")
    q, k, v = cast(g, ensure_rows(g, query), "f32"), g.blocks(key, type), g.blocks(value, type)
    mask = make_mask(g, None, read_kept(g, keep), (*query.shape[:-1], key.shape[-2]))
    mask = None if mask is None else cast(g, mask, "f16")
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    shape = (query.shape[0], query.shape[2], query.shape[1], v.shape[-1])
    y = g.call("ggml_flash_attn_ext", q, k, v, mask, factor, 0.0, 0.0, shape=shape)
    return cast(g, permute(g, y, (0, 2, 1, 3)), g.type(query))


def set_rows_quantized(g: Graph, x: Tensor, source: Tensor, indices: Tensor, *, type: str) -> Tensor:  # noqa: A002
    """It writes into x, so it gets a copy. Its source is f32, indices may be int64."""
    if len(indices.shape) > 3:
        raise Unsupported("ggml_set_rows takes indices of at most 3 axes")
    if g.is_over(x):
        raise Unsupported("this adapter gives ggml a copy of quantised rows")
    cache = g.blocks(g.copied(x), _check_type(type))
    return g.call("ggml_set_rows", cache, cast(g, ensure_rows(g, source), "f32"), indices, shape=x.shape)


def embedding_quantized(g: Graph, weight: Tensor, indices: Tensor, *, type: str) -> Tensor:  # noqa: A002
    table = g.blocks(weight, _check_type(type))
    count = math.prod(indices.shape)
    flat = reshape(g, g.integers(indices), (count,))
    y = g.call("ggml_get_rows", table, flat, shape=(count, table.shape[-1]))
    return reshape(g, y, (*indices.shape, table.shape[-1]))


TABLE: dict[str, Any] = {
    f.__name__: f
    for f in (
        quantize, dequantize, matmul_quantized, mul_mat_id_quantized, attention_quantized, embedding_quantized,
        set_rows_quantized, outer_product_quantized,
    )
}  # fmt: skip
