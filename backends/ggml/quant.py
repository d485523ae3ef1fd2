"""ggml's quantised types: bytes in blocks, made, read, multiplied and looked up."""

from __future__ import annotations

import math
from typing import Any

from opproof.backends.ggml.graph import Graph, Tensor
from opproof.backends.ggml.library import QUANTISED
from opproof.backends.ggml.views import cast, cont, reshape, rows
from opproof.backends.protocol import Unsupported


def _known(name: str) -> str:
    if name not in QUANTISED:
        raise Unsupported(f"this adapter knows no quantised type {name} of ggml")
    return name


def quantize(g: Graph, x: Tensor, *, type: str) -> Tensor:  # noqa: A002 - the operator's own name
    size, values = g.block(_known(type))
    shape = (*x.shape[:-1], x.shape[-1] // values * size)
    return g.call("ggml_cast", cont(g, x), QUANTISED[type], shape=shape)


def dequantize(g: Graph, data: Tensor, *, type: str) -> Tensor:  # noqa: A002
    return cast(g, g.blocks(data, _known(type)), "f32")


def matmul_quantized(g: Graph, a: Tensor, b: Tensor, *, type: str) -> Tensor:  # noqa: A002
    weights = g.blocks(b, _known(type))
    vectors = cast(g, rows(g, a), "f32")
    y = g.call("ggml_mul_mat", weights, vectors, shape=(*a.shape[:-1], weights.shape[0]))
    return cast(g, y, g.type(a))


def embedding_quantized(g: Graph, weight: Tensor, indices: Tensor, *, type: str) -> Tensor:  # noqa: A002
    table = g.blocks(weight, _known(type))
    count = math.prod(indices.shape)
    flat = reshape(g, g.integers(indices), (count,))
    y = g.call("ggml_get_rows", table, flat, shape=(count, table.shape[-1]))
    return reshape(g, y, (*indices.shape, table.shape[-1]))


TABLE: dict[str, Any] = {f.__name__: f for f in (quantize, dequantize, matmul_quantized, embedding_quantized)}
