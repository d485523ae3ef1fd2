"""ONNX's recurrent layers and rotary embedding, by our references. See translated.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from opproof.harness.capture.onnx.shared import NotOurs, Ref


def _gates(ref: Ref, x: Any, order: Sequence[int]) -> Any:
    """The gates of a weight or bias, which lie along the first axis, in our order."""
    if x is None:
        return None
    size = x.shape[0] // len(order)
    return ref("concat", *(ref("slice", x, dim=0, start=i * size, end=(i + 1) * size) for i in order), dim=0)


def _forward_only(direction: Any, lengths: Any, given: Any) -> None:
    if direction != "forward" or lengths is not None or given:
        raise NotOurs("other directions, lengths and activations")


def _steps(ref: Ref, x: Any, w: Any, r: Any, b: Any, order: Sequence[int], layout: Any) -> Any:
    """The inputs of each step, both weights and both biases, in our order of gates."""
    x = ref("permute", x, dims=(1, 0, 2)) if layout else x
    halves = (None, None) if b is None else np.split(b[0], 2)
    return list(x), [_gates(ref, v, order) for v in (w[0], r[0], *halves)]


def _begun(state: Any, x: Any, size: Any, layout: Any) -> Any:
    """The first state (batch, size), zero where none is given."""
    if state is None:
        return np.zeros((x.shape[0], size))
    return state[:, 0] if layout else state[0]


def _whole(ref: Ref, states: Any, layout: Any) -> Any:
    """States of all steps and of the last one, with ONNX's axis of directions."""
    y = ref("stack", *states, dim=0)[:, None]
    return ref("permute", y, dims=(2, 0, 1, 3)) if layout else y, _last(states[-1], layout)


def _last(state: Any, layout: Any) -> Any:
    return state[:, None] if layout else state[None]


def _lstm(
    ref: Ref,
    x: Any,
    w: Any,
    r: Any,
    b: Any = None,
    lengths: Any = None,
    h: Any = None,
    c: Any = None,
    peepholes: Any = None,
    *,
    hidden_size: Any,
    direction: Any = "forward",
    layout: Any = 0,
    **given: Any,
) -> Any:
    _forward_only(direction, lengths, given)
    if peepholes is not None:
        raise NotOurs("peepholes")
    steps, weights = _steps(ref, x, w, r, b, (0, 2, 3, 1), layout)  # ONNX has i, o, f, c
    h, c = _begun(h, steps[0], hidden_size, layout), _begun(c, steps[0], hidden_size, layout)
    states = []
    for step in steps:
        h, c = ref("lstm_cell", step, h, c, *weights)
        states.append(h)
    return *_whole(ref, states, layout), _last(c, layout)


def _gru(
    ref: Ref,
    x: Any,
    w: Any,
    r: Any,
    b: Any = None,
    lengths: Any = None,
    h: Any = None,
    *,
    hidden_size: Any,
    direction: Any = "forward",
    layout: Any = 0,
    linear_before_reset: Any = 0,
    **given: Any,
) -> Any:
    _forward_only(direction, lengths, given)
    steps, weights = _steps(ref, x, w, r, b, (1, 0, 2), layout)  # ONNX has z, r, h
    first = h is None and len(steps) == 1 and (weights[3] is None or not np.any(weights[3]))
    if not linear_before_reset and not first:
        raise NotOurs("a reset before the product, which differs from ours once there is a state")
    h = _begun(h, steps[0], hidden_size, layout)
    states = []
    for step in steps:
        h = ref("gru_cell", step, h, *weights)
        states.append(h)
    return _whole(ref, states, layout)


def _rnn(
    ref: Ref,
    x: Any,
    w: Any,
    r: Any,
    b: Any = None,
    lengths: Any = None,
    h: Any = None,
    *,
    hidden_size: Any,
    direction: Any = "forward",
    layout: Any = 0,
    **given: Any,
) -> Any:
    _forward_only(direction, lengths, given)
    steps, (wi, wr, bi, br) = _steps(ref, x, w, r, b, (0,), layout)
    h = _begun(h, steps[0], hidden_size, layout)
    states = []
    for step in steps:
        h = ref("tanh", ref("add", ref("linear", step, wi, bi), ref("linear", h, wr, br)))
        states.append(h)
    return _whole(ref, states, layout)


def _rotary(
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


RECURRENT: dict[str, Callable[..., Any]] = {"GRU": _gru, "LSTM": _lstm, "RNN": _rnn, "RotaryEmbedding": _rotary}
