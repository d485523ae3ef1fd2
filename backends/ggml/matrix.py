"""ggml's matrix products, attention, rotary embedding, triangular solve.

ggml_mul_mat(a, b) is b aᵀ with rows of a and b the vectors multiplied; its result is f32 whatever it is given.
"""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np

from opproof.backends.ggml.graph import Graph, Tensor
from opproof.backends.ggml.memory import Shape
from opproof.backends.ggml.rows import make_mask, read_kept
from opproof.backends.ggml.views import cast, ensure_contiguous, ensure_rows, expand, permute, reshape, swap_axes
from opproof.backends.protocol import Unsupported

_F32_PRECISION = 10  # GGML_PREC_F32
_ROPE_MODES = {"norm": 0, "neox": 2, "mrope": 8, "imrope": 40, "vision": 24}  # GGML_ROPE_TYPE_*


def matmul(g: Graph, a: Tensor, b: Tensor) -> Tensor:
    """A vector is a matrix of one row, or of one column."""
    left = a if len(a.shape) > 1 else reshape(g, a, (1, *a.shape))
    right = swap_axes(g, b) if len(b.shape) > 1 else reshape(g, b, (1, *b.shape))
    batch = tuple(np.broadcast_shapes(left.shape[:-2], right.shape[:-2]))
    left = expand(g, left, (*batch, *left.shape[-2:]))  # ggml repeats the other one itself
    y = compute_product(g, right, left, (*batch, left.shape[-2], right.shape[-2]))
    shape = batch + left.shape[-2:-1] * (len(a.shape) > 1) + right.shape[-2:-1] * (len(b.shape) > 1)
    return cast(g, reshape(g, y, shape), g.type(a))


def compute_product(g: Graph, a: Tensor, b: Tensor, shape: Shape) -> Tensor:
    """The product b aᵀ in f32."""
    return g.call("ggml_mul_mat", ensure_rows(g, a), ensure_rows(g, b), shape=shape)


def linear(g: Graph, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    row = x if len(x.shape) > 1 else reshape(g, x, (1, *x.shape))
    y = compute_product(g, weight, row, (*row.shape[:-1], weight.shape[0]))
    y = y if bias is None else g.call("ggml_add", y, cast(g, bias, "f32"))
    return cast(g, reshape(g, y, (*x.shape[:-1], weight.shape[0])), g.type(x))


def dot(g: Graph, a: Tensor, b: Tensor) -> Tensor:
    y = compute_product(g, reshape(g, b, (1, *b.shape)), reshape(g, a, (1, *a.shape)), (1, 1))
    return cast(g, reshape(g, y, ()), g.type(a))


def outer_product(g: Graph, a: Tensor, b: Tensor) -> Tensor:
    """A vector is a matrix of one row. ggml repeats b along the batch itself."""
    a, b = (t if len(t.shape) > 1 else reshape(g, t, (1, *t.shape)) for t in (a, b))
    batch = tuple(np.broadcast_shapes(a.shape[:-2], b.shape[:-2]))
    a = expand(g, a, (*batch, *a.shape[-2:]))
    return g.call("ggml_out_prod", ensure_rows(g, b), a, shape=(*batch, a.shape[-1], b.shape[-1]))


def mul_mat_id(g: Graph, a: Tensor, b: Tensor, ids: Tensor) -> Tensor:
    y = g.call("ggml_mul_mat_id", ensure_rows(g, a), ensure_rows(g, b), g.integers(ids), shape=(*ids.shape, a.shape[1]))
    return cast(g, y, g.type(b))


def solve_triangular(g: Graph, a: Tensor, b: Tensor, *, upper: bool, left: bool, unitriangular: bool) -> Tensor:
    if upper or not left or unitriangular:
        raise Unsupported("ggml_solve_tri solves a x = b with a lower triangular a of any diagonal only")
    if a.shape[:-2] != b.shape[:-2]:
        raise Unsupported("ggml_solve_tri takes equal batches")
    return g.call("ggml_solve_tri", ensure_contiguous(g, a), ensure_contiguous(g, b), True, True, False, shape=b.shape)


def scaled_dot_product_attention(
    g: Graph, query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, keep: Tensor | None = None,
    sinks: Tensor | None = None,
    *, is_causal: bool, scale: float | None, enable_gqa: bool, softcap: float, max_bias: float,
) -> Tensor:  # fmt: skip
    """Its mask is f16, its result permuted; causality is a mask. Heads always share keys where there are fewer."""
    del enable_gqa
    if max_bias > 0 and attn_mask is None:
        raise Unsupported("ggml_flash_attn_ext applies ALiBi's slope to a mask only")
    name = g.type(query)
    if attn_mask is not None and name != "f16":
        raise Unsupported(f"ggml_flash_attn_ext takes its mask in f16, not {name}")
    scores = (*query.shape[:-1], key.shape[-2])
    open_ = read_kept(g, keep)
    if is_causal:
        seen = np.tri(*scores[-2:], dtype=np.bool_)
        open_ = seen if open_ is None else open_ & seen
    mask = make_mask(g, attn_mask, open_, scores)
    mask = None if mask is None else cast(g, mask, "f16")  # of f32 only where it is zeros and -inf
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    q, k, v = cast(g, ensure_rows(g, query), "f32"), ensure_rows(g, key), ensure_rows(g, value)
    shape = (query.shape[0], query.shape[2], query.shape[1], value.shape[-1])
    y = g.call("ggml_flash_attn_ext", q, k, v, mask, factor, max_bias, softcap, shape=shape)
    g.do("ggml_flash_attn_ext_set_prec", y, _F32_PRECISION)
    if sinks is not None:
        g.do("ggml_flash_attn_ext_add_sinks", y, cast(g, sinks, "f32"))
    return cast(g, permute(g, y, (0, 2, 1, 3)), name)


def rope(g: Graph, x: Tensor, positions: Tensor, freq_factors: Tensor | None = None, **how: Any) -> Tensor:
    return _call_rope("", g, x, positions, freq_factors, **how)


def rope_back(g: Graph, grad: Tensor, positions: Tensor, freq_factors: Tensor | None = None, **how: Any) -> Tensor:
    return _call_rope("_back", g, grad, positions, freq_factors, **how)


def _call_rope(
    suffix: str, g: Graph, x: Tensor, positions: Tensor, factors: Tensor | None,
    *, n_dims: int, mode: str, freq_base: float, freq_scale: float, ext_factor: float, attn_factor: float,
    beta_fast: float, beta_slow: float, n_ctx_orig: int, sections: tuple[int, ...],
) -> Tensor:  # fmt: skip
    places = reshape(g, g.integers(positions), (math.prod(positions.shape),))
    factors = None if factors is None else cast(g, factors, "f32")
    rest = (n_ctx_orig, freq_base, freq_scale, ext_factor, attn_factor, beta_fast, beta_slow)
    number = _ROPE_MODES[mode]
    if mode in ("norm", "neox"):
        return g.call(f"ggml_rope_ext{suffix}", ensure_rows(g, x), places, factors, n_dims, number, *rest)
    four = (ctypes.c_int * 4)(*sections)
    return g.call(f"ggml_rope_multi{suffix}", ensure_rows(g, x), places, factors, n_dims, four, number, *rest)


TABLE: dict[str, Any] = {
    "matmul": matmul,
    "bmm": matmul,
    **{
        f.__name__: f
        for f in (
            linear, dot, outer_product, mul_mat_id, solve_triangular, scaled_dot_product_attention, rope, rope_back,
        )
    },
}  # fmt: skip
