"""ONNX's operators along a sequence, by our references: recurrent layers, linear attention, Fourier transforms."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from opproof.reference_ops.onnx.shared import NotTranslatable, Ref, apply_chain


def _order_gates(ref: Ref, x: Any, order: Sequence[int]) -> Any:
    """The gates of a weight or bias, which lie along the first axis, in our order."""
    if x is None:
        return None
    size = x.shape[0] // len(order)
    return ref("concat", *(ref("slice", x, dim=0, start=i * size, end=(i + 1) * size) for i in order), dim=0)


def _split_steps(ref: Ref, x: Any, w: Any, r: Any, b: Any, order: Sequence[int], layout: Any) -> Any:
    """The inputs of each step, both weights and both biases, in our order of gates."""
    x = ref("permute", x, dims=(1, 0, 2)) if layout else x
    halves = (None, None) if b is None else np.split(b[0], 2)
    return list(x), [_order_gates(ref, v, order) for v in (w[0], r[0], *halves)]


def _make_first_state(state: Any, x: Any, size: Any, layout: Any) -> Any:
    """The first state (batch, size), zero where none is given."""
    if state is None:
        return np.zeros((x.shape[0], size))
    return state[:, 0] if layout else state[0]


def _join_states(ref: Ref, states: Any, layout: Any) -> Any:
    """States of all steps and of the last one, with ONNX's axis of directions."""
    y = ref("stack", *states, dim=0)[:, None]
    return ref("permute", y, dims=(2, 0, 1, 3)) if layout else y, _last_of(states[-1], layout)


def _last_of(state: Any, layout: Any) -> Any:
    return state[:, None] if layout else state[None]


def _make_recurrent(order: Sequence[int], count: int, step: Callable[..., Any]) -> Callable[..., Any]:
    """An operator that carries `count` states along, by our next states of `step`; ONNX's gates in our order."""

    def entry(
        ref: Ref, x: Any, w: Any, r: Any, b: Any = None, lengths: Any = None, *states: Any, hidden_size: Any,
        direction: Any = "forward", layout: Any = 0, linear_before_reset: Any = None, **given: Any,
    ) -> Any:  # fmt: skip
        if direction != "forward" or lengths is not None or given:
            raise NotTranslatable("other directions, lengths and activations")
        if any(more is not None for more in states[count:]):
            raise NotTranslatable("peepholes")
        steps, weights = _split_steps(ref, x, w, r, b, order, layout)
        if step is _step_gru and not linear_before_reset:
            begins = not any(h is not None for h in states) and len(steps) == 1
            if not begins or (weights[3] is not None and np.any(weights[3])):
                raise NotTranslatable("a reset before the product, which differs from ours once there is a state")
        firsts = (*states, None, None)[:count]
        now = tuple(_make_first_state(first, steps[0], hidden_size, layout) for first in firsts)
        seen = []
        for each in steps:
            now = step(ref, each, now, weights)
            seen.append(now[0])
        return *_join_states(ref, seen, layout), *(_last_of(other, layout) for other in now[1:])

    return entry


def _step_lstm(ref: Ref, x: Any, states: Any, weights: Any) -> Any:
    return ref("lstm_cell", x, *states, *weights)


def _step_gru(ref: Ref, x: Any, states: Any, weights: Any) -> Any:
    return (ref("gru_cell", x, *states, *weights),)


def _step_rnn(ref: Ref, x: Any, states: Any, weights: Any) -> Any:
    return (ref("rnn_cell", x, *states, *weights),)


def _translate_rotary(
    ref: Ref,
    x: Any,
    cos: Any,
    sin: Any,
    positions: Any = None,
    *,
    interleaved: Any = 0,
    num_heads: Any = 0,
    rotary_embedding_dim: Any = 0,
) -> Any:
    """From tables of cosines and sines, of which ours has angles alone: turned pair by pair."""
    shape = x.shape
    if x.ndim == 3:
        cut = ref("reshape", x, shape=(*shape[:2], num_heads, shape[2] // num_heads))
        x = ref("permute", cut, dims=(0, 2, 1, 3))
    if positions is not None:
        flat = np.ravel(positions)
        cos, sin = (
            ref("reshape", ref("index_select", t, flat, dim=0), shape=(*positions.shape, t.shape[-1]))
            for t in (cos, sin)
        )
    cos, sin = cos[:, None], sin[:, None]
    n = rotary_embedding_dim or x.shape[-1]
    starts = ((0, n, 2), (1, n, 2)) if interleaved else ((0, n // 2, 1), (n // 2, n, 1))
    a, b = (ref("slice", x, dim=3, start=start, end=end, step=step) for start, end, step in starts)
    first = ref("sub", ref("mul", a, cos), ref("mul", b, sin))
    second = ref("add", ref("mul", a, sin), ref("mul", b, cos))
    if interleaved:
        turned = ref("reshape", ref("stack", first, second, dim=4), shape=(*x.shape[:3], n))
    else:
        turned = ref("concat", first, second, dim=3)
    y = ref("concat", turned, ref("slice", x, dim=3, start=n), dim=3) if n < x.shape[-1] else turned
    return ref("reshape", ref("permute", y, dims=(0, 2, 1, 3)), shape=shape) if len(shape) == 3 else y


RECURRENT: dict[str, Callable[..., Any]] = {
    "GRU": _make_recurrent((1, 0, 2), 1, _step_gru),  # ONNX has z, r, h
    "LSTM": _make_recurrent((0, 2, 3, 1), 2, _step_lstm),  # ONNX has i, o, f, c
    "RNN": _make_recurrent((0,), 1, _step_rnn),
    "RotaryEmbedding": _translate_rotary,
}


def _split_heads(x: Any, heads: Any) -> Any:
    return x.reshape(*x.shape[:2], heads, -1)


def _translate_linear_attention(
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
    q, k, v = _split_heads(q, q_num_heads), _split_heads(k, kv_num_heads), _split_heads(v, kv_num_heads)
    batch, tokens, _, d = q.shape
    if v.shape[-1] != d:
        raise NotTranslatable("values that are not as long as keys")
    state = np.zeros((batch, kv_num_heads, d, d)) if past is None else past
    gate = np.zeros((batch, tokens, kv_num_heads, 1)) if decay is None else _split_heads(decay, kv_num_heads)
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


def _translate_causal_conv(
    ref: Ref, x: Any, weight: Any, bias: Any = None, past: Any = None, *, activation: Any = "none"
) -> Any:
    reach = weight.shape[2] - 1
    whole = ref("pad", x, pad=(reach, 0)) if past is None else ref("concat", past, x, dim=2)
    y = ref("ssm_conv", whole, ref("reshape", weight, shape=(weight.shape[0], -1)))
    y = y if bias is None else ref("add", y, bias)
    y = y if activation == "none" else ref("silu", y)
    return ref("transpose", y, dim0=1, dim1=2), ref("slice", whole, dim=2, start=whole.shape[2] - reach)


LINEAR: dict[str, Callable[..., Any]] = {
    "CausalConvWithState": _translate_causal_conv,
    "LinearAttention": _translate_linear_attention,
}


def _join_planes(planes: Any) -> Any:
    """Two planes as ONNX writes complex numbers: along a last axis of two."""
    return np.stack(planes, axis=-1)


def _translate_dft(
    ref: Ref, x: Any, length: Any = None, axis: Any = None, *, inverse: Any = 0, onesided: Any = 0, **attrs: Any
) -> Any:
    dim = int(attrs.get("axis", -2) if axis is None else axis) % x.ndim
    if inverse and onesided:
        raise NotTranslatable("the inverse of half a transform")
    planes = [x[..., 0], x[..., 1] if x.shape[-1] == 2 else np.zeros_like(x[..., 0])]
    n = x.shape[dim] if length is None else int(length)
    widths = [0, 0] * planes[0].ndim
    widths[2 * (planes[0].ndim - 1 - dim) + 1] = n - x.shape[dim]
    re, im = (ref("pad", plane, pad=tuple(widths), value=0.0) for plane in planes)
    if onesided and x.shape[-1] == 1:
        return _join_planes(ref("rfft", re, dim=dim))
    y = _join_planes(ref("fft", re, im, dim=dim, inverse=bool(inverse)))
    return ref("slice", y, dim=dim, start=0, end=n // 2 + 1, step=1) if onesided else y


def _translate_stft(ref: Ref, x: Any, step: Any, window: Any = None, length: Any = None, *, onesided: Any = 1) -> Any:
    if not onesided:
        raise NotTranslatable("both halves of every frame's transform")
    n = int(length) if window is None else window.size
    weights = np.ones(n) if window is None else window
    y = ref("stft", x.reshape(x.shape[:2]), weights, n_fft=n, hop_length=int(step))
    return _join_planes([ref("transpose", plane, dim0=1, dim1=2) for plane in y])


def _make_window(*weights: float) -> Any:
    """A sum of cosines of whole turns over the window, with these weights."""

    def entry(ref: Ref, size: Any, *, periodic: Any = 1, output_datatype: Any = 1) -> Any:
        n = int(size)
        step = 2 * math.pi / (n if periodic else n - 1)
        places = ref("arange", start=0, end=n, step=1).astype(np.float64)
        terms = [
            ref("scale", ref("cos", ref("scale", places, s=k * step)), s=weight) for k, weight in enumerate(weights)
        ]
        return apply_chain(ref, "add", terms)

    return entry


def _translate_mel(
    ref: Ref, bands: Any, length: Any, rate: Any, lower: Any, upper: Any, *, output_datatype: Any = 1
) -> Any:
    sizes = {"bands": int(bands), "dft_length": int(length), "rate": int(rate)}
    return ref("mel_weight_matrix", **sizes, lower=float(lower), upper=float(upper))


SIGNALS: dict[str, Callable[..., Any]] = {
    "BlackmanWindow": _make_window(0.42, -0.5, 0.08),
    "DFT": _translate_dft,
    "HammingWindow": _make_window(25 / 46, -21 / 46),
    "MelWeightMatrix": _translate_mel,
    "HannWindow": _make_window(0.5, -0.5),
    "STFT": _translate_stft,
}
