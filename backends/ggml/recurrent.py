"""ggml's recurrences and state spaces, which give one tensor that holds y and, behind it, the last state; and what
DeepSeek's models have beside attention: hyper-connections and the indexer.
"""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np

from opproof.backends.ggml.graph import Graph, Tensor
from opproof.backends.ggml.memory import Shape
from opproof.backends.ggml.versions import has_changed
from opproof.backends.ggml.views import cast, ensure_contiguous, ensure_rows, make_view, reshape
from opproof.backends.protocol import Unsupported

_MIXES_OF_FOUR = (2 + 4) * 4  # numbers a token of four streams
_ONE = ctypes.c_int64(1)  # snapshots of the state that are kept: the last


def _split_results(g: Graph, joined: Tensor, y: Shape, state: Shape) -> list[Tensor]:
    """The two results as views of the one tensor."""
    whole = reshape(g, joined, (math.prod(y) + math.prod(state),))
    return [
        reshape(g, make_view(g, whole, (math.prod(shape),), (1,), offset), shape)
        for shape, offset in ((y, 0), (state, math.prod(y)))
    ]


def _pack_sequences(g: Graph, x: Tensor) -> Tensor:
    """Sequences one behind the other: (n tokens, heads, d)."""
    return reshape(g, x, (x.shape[0] * x.shape[1], *x.shape[2:]))


def _call_attention(name: str, g: Graph, tensors: list[Tensor], state: Tensor, *more: Any) -> list[Tensor]:
    """A call on packed tensors and the state as (n, everything); its y is shaped as the first tensor."""
    n, tokens, heads, d = tensors[0].shape
    packed = [_pack_sequences(g, t) if len(t.shape) == 4 else ensure_contiguous(g, t) for t in tensors]
    flat = reshape(g, state, (n, heads * d * d))
    joined = g.call(name, *packed, flat, *more, shape=(n * (tokens + d), heads * d))
    return _split_results(g, joined, tensors[0].shape, state.shape)


def wkv6(g: Graph, k: Tensor, v: Tensor, r: Tensor, tf: Tensor, td: Tensor, state: Tensor) -> list[Tensor]:
    return _call_attention("ggml_rwkv_wkv6", g, [k, v, r, tf, td], state)


def wkv7(g: Graph, r: Tensor, w: Tensor, k: Tensor, v: Tensor, a: Tensor, b: Tensor, state: Tensor) -> list[Tensor]:
    return _call_attention("ggml_rwkv_wkv7", g, [r, w, k, v, a, b], state)


def gated_linear_attn(
    g: Graph, k: Tensor, v: Tensor, q: Tensor, gate: Tensor, state: Tensor, *, scale: float
) -> list[Tensor]:
    return _call_attention("ggml_gated_linear_attn", g, [k, v, q, gate], state, scale)


def gated_delta_net(
    g: Graph, q: Tensor, k: Tensor, v: Tensor, gate: Tensor, beta: Tensor, state: Tensor
) -> list[Tensor]:
    """One snapshot of the state: the last."""
    n, tokens, heads, d = v.shape
    name, shape = "ggml_gated_delta_net", (n * (tokens + d), heads * d)
    begun: tuple[Any, ...]
    if has_changed(g.library.version, name):
        begun = (ensure_contiguous(g, state), _ONE)
    else:
        begun = (reshape(g, ensure_contiguous(g, state), (n, 1, heads * d * d)),)
    joined = g.call(
        name,
        *(ensure_rows(g, t) for t in (q, k, v)),
        ensure_contiguous(g, gate),
        ensure_contiguous(g, beta),
        *begun,
        shape=shape,
    )
    return _split_results(g, joined, v.shape, state.shape)


def ssm_conv(g: Graph, x: Tensor, weight: Tensor) -> Tensor:
    shape = (x.shape[0], x.shape[2] - weight.shape[1] + 1, x.shape[1])
    return g.call("ggml_ssm_conv", ensure_contiguous(g, x), ensure_rows(g, weight), shape=shape)


def ssm_scan(
    g: Graph, state: Tensor, x: Tensor, dt: Tensor, A: Tensor, B: Tensor, C: Tensor, ids: Tensor
) -> list[Tensor]:
    last = (ids.shape[0], *state.shape[1:])
    seven = [*(ensure_contiguous(g, t) for t in (state, x, dt, A, B, C)), g.integers(ids)]
    snapshots = [_ONE] if has_changed(g.library.version, "ggml_ssm_scan") else []
    count = math.prod(x.shape) + math.prod(last)
    return _split_results(g, g.call("ggml_ssm_scan", *seven, *snapshots, shape=(count,)), x.shape, last)


def lightning_indexer(g: Graph, q: Tensor, k: Tensor, head_weights: Tensor, mask: Tensor | None = None) -> Tensor:
    """Its mask is f16, and there always is one. It computes in f32 of any k."""
    n, t, h, d = q.shape
    s, name = k.shape[1], g.type(q)
    if mask is not None and name != "f16":
        raise Unsupported(f"ggml_lightning_indexer takes its mask in f16, not {name}")
    open_ = g.leaf(np.zeros((n, 1, t, s), np.float16)) if mask is None else reshape(g, mask, (n, 1, t, s))
    keys, each = reshape(g, ensure_rows(g, k), (n, s, 1, d)), reshape(g, cast(g, head_weights, "f32"), (n, 1, t, h))
    y = g.call("ggml_lightning_indexer", cast(g, ensure_rows(g, q), "f32"), keys, each, open_, shape=(n, 1, t, s))
    return cast(g, reshape(g, y, (n, t, s)), name)


def dsv4_hc_pre(g: Graph, x: Tensor, pre: Tensor, *, scale: float) -> Tensor:
    shape = (x.shape[0], x.shape[2])
    if len(pre.shape) == 3:
        return g.call("ggml_dsv4_hc_pre_gated", x, pre, scale, shape=shape)
    if scale != 1:
        raise Unsupported("ggml_dsv4_hc_pre scales what is gated only")
    return g.call("ggml_dsv4_hc_pre", x, pre, shape=shape)


def dsv4_hc_comb(g: Graph, mixes: Tensor, scale: Tensor, base: Tensor, *, eps: float, n_iter: int) -> Tensor:
    if base.shape[0] != _MIXES_OF_FOUR:
        raise Unsupported("ggml_dsv4_hc_comb mixes four streams")
    return g.call("ggml_dsv4_hc_comb", mixes, scale, base, eps, n_iter, shape=(mixes.shape[0], 4, 4))


def dsv4_hc_post(g: Graph, x: Tensor, residual: Tensor, post: Tensor, comb: Tensor | None = None) -> Tensor:
    return g.call("ggml_dsv4_hc_post", x, residual, post, comb, shape=residual.shape)


TABLE: dict[str, Any] = {
    f.__name__: f
    for f in (
        wkv6, wkv7, gated_linear_attn, gated_delta_net, ssm_conv, ssm_scan, lightning_indexer, dsv4_hc_pre,
        dsv4_hc_comb, dsv4_hc_post,
    )
}  # fmt: skip
