"""ONNX's linear attention and causal convolution, by our references. See translated.py."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from opproof.harness.capture.onnx.shared import NotOurs, Ref


def _packed(x: Any, heads: Any) -> Any:
    return x.reshape(*x.shape[:2], heads, -1)


def _linear_attention(
    ref: Ref,
    q: Any,
    k: Any,
    v: Any,
    past: Any = None,
    decay: Any = None,
    beta: Any = None,
    *,
    q_num_heads: Any,
    kv_num_heads: Any,
    scale: Any = 0.0,
    chunk_size: Any = 64,
    update_rule: Any = "gated_delta",
) -> Any:
    q, k, v = _packed(q, q_num_heads), _packed(k, kv_num_heads), _packed(v, kv_num_heads)
    batch, tokens, _, d = q.shape
    if v.shape[-1] != d:
        raise NotOurs("values that are not as long as keys")
    state = np.zeros((batch, kv_num_heads, d, d)) if past is None else past
    gate = np.zeros((batch, tokens, kv_num_heads, 1)) if decay is None else _packed(decay, kv_num_heads)
    rate = None if beta is None else np.broadcast_to(beta[..., None], (batch, tokens, kv_num_heads, 1))
    shared = q_num_heads // kv_num_heads  # ours has a state per query head: each is written out
    if shared > 1:
        k, v, gate = (ref("repeat_interleave", x, repeats=shared, dim=2) for x in (k, v, gate))
        rate = None if rate is None else ref("repeat_interleave", rate, repeats=shared, dim=2)
        state = ref("repeat_interleave", state, repeats=shared, dim=1)
    factor = 1 / math.sqrt(d) if scale == 0 else scale
    if update_rule in ("linear", "gated"):
        kept = ref("expand", ref("exp", gate), shape=k.shape)
        y, last = ref("gated_linear_attn", k, v, q, kept, state, scale=factor)
    else:  # ours keeps values along rows, and divides by the root of d
        y, last = ref("gated_delta_net", q, k, v, gate, rate, ref("transpose", state, dim0=2, dim1=3))
        y, last = ref("scale", y, s=factor * math.sqrt(d)), ref("transpose", last, dim0=2, dim1=3)
    last = ref("slice", last, dim=1, step=shared)
    return ref("reshape", y, shape=(batch, tokens, -1)), last


def _causal_conv(ref: Ref, x: Any, weight: Any, bias: Any = None, past: Any = None, *, activation: Any = "none") -> Any:
    reach = weight.shape[2] - 1
    whole = ref("pad", x, pad=(reach, 0)) if past is None else ref("concat", past, x, dim=2)
    y = ref("ssm_conv", whole, ref("reshape", weight, shape=(weight.shape[0], -1)))
    y = y if bias is None else ref("add", y, bias)
    y = y if activation == "none" else ref("silu", y)
    return ref("transpose", y, dim0=1, dim1=2), ref("slice", whole, dim=2, start=whole.shape[2] - reach)


LINEAR: dict[str, Callable[..., Any]] = {"CausalConvWithState": _causal_conv, "LinearAttention": _linear_attention}
