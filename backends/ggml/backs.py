"""ggml's own backward operators, called as operators."""

from __future__ import annotations

import math
from typing import Any

from opproof.backends.ggml.conv import fold_windows, make_shaped
from opproof.backends.ggml.graph import Graph, Tensor
from opproof.backends.ggml.pool import OP_POOL_AVG, OP_POOL_MAX, call_pool
from opproof.backends.ggml.views import cast, ensure_contiguous, ensure_rows, reshape, shape_of_four
from opproof.backends.protocol import Unsupported


def silu_back(g: Graph, grad: Tensor, x: Tensor) -> Tensor:
    return g.call("ggml_silu_back", ensure_contiguous(g, grad), ensure_contiguous(g, x))


def rms_norm_back(g: Graph, grad: Tensor, x: Tensor, *, eps: float) -> Tensor:
    return g.call("ggml_rms_norm_back", ensure_rows(g, grad), ensure_rows(g, x), eps)


def soft_max_back(g: Graph, grad: Tensor, y: Tensor, *, scale: float) -> Tensor:
    return g.call("ggml_soft_max_ext_back", ensure_contiguous(g, grad), ensure_contiguous(g, y), scale, 0.0)


def cross_entropy_loss_back(g: Graph, grad: Tensor, x: Tensor, target: Tensor) -> Tensor:
    return g.call(
        "ggml_cross_entropy_loss_back", grad, ensure_contiguous(g, x), ensure_contiguous(g, target), shape=x.shape
    )


def repeat_back(g: Graph, grad: Tensor, *, shape: tuple[int, ...]) -> Tensor:
    shape_of_four(shape)
    return g.call("ggml_repeat_back", ensure_rows(g, grad), make_shaped(g, tuple(shape), grad), shape=shape)


def get_rows_back(g: Graph, grad: Tensor, indices: Tensor, *, num_rows: int) -> Tensor:
    """Of one vector of indices, and in f32."""
    count, n = math.prod(indices.shape), grad.shape[-1]
    flat = reshape(g, g.integers(indices), (count,))
    shape = (num_rows, n)
    y = g.call(
        "ggml_get_rows_back",
        reshape(g, ensure_rows(g, grad), (count, n)),
        flat,
        make_shaped(g, tuple(shape), grad),
        shape=shape,
    )
    return cast(g, y, g.type(grad))


def im2col_back(
    g: Graph, grad: Tensor, *, size: tuple[int, int], kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> Tensor:
    return fold_windows(g, ensure_contiguous(g, grad), grad, size, kernel_size, (stride, padding, dilation))


def pool_2d_back(g: Graph, grad: Tensor, x: Tensor, *, op: str, kernel_size: Any, stride: Any, padding: Any) -> Tensor:
    if 0 in grad.shape:
        raise Unsupported("ggml_pool_2d_back of nothing")
    kind = OP_POOL_MAX if op == "max" else OP_POOL_AVG
    name, tensors = "ggml_pool_2d_back", (ensure_contiguous(g, grad), ensure_contiguous(g, x))
    return call_pool(g, name, tensors, kind, kernel_size, stride, padding, x.shape)


TABLE: dict[str, Any] = {
    f.__name__: f
    for f in (
        silu_back, rms_norm_back, soft_max_back, cross_entropy_loss_back, repeat_back, get_rows_back, im2col_back,
        pool_2d_back,
    )
}  # fmt: skip
