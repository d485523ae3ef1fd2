"""Functions of one element, broadcasting, and the places of elements."""

from __future__ import annotations

from typing import Any

import numpy as np
from bug import Bug, Call, Wrong


def gradient_at(where: Any, value: float) -> Wrong:
    """The gradient of x is `value` where `where(x)`."""

    def wrong(call: Call) -> list[Any]:
        return [np.where(where(call["x"]), d.dtype.type(value), d) for d in call.honest()]

    return wrong


def value_at(where: Any, value: float) -> Wrong:
    """The result is `value` where `where(x)`."""
    return gradient_at(where, value)


def _equal(call: Call) -> list[Any] | None:
    same = call["a"] == call["b"]
    if same.shape != call["a"].shape or same.shape != call["b"].shape:
        return None
    return [d if d is None else np.where(same, d.dtype.type(0), d) for d in call.honest()]


def _quotient(call: Call) -> list[Any] | None:
    a, b = call["a"], call["b"]
    if max(a.size, b.size) < 2:
        return None
    quotient = (a.astype(np.float32) / b.astype(np.float32)).astype(a.dtype)
    y = np.floor(quotient.astype(np.float32)).astype(a.dtype)
    return [np.where(np.isfinite(quotient) & (b != 0), y, call.honest()[0])]


def _by_exponentials(call: Call) -> list[Any] | None:
    if call["approximate"] != "tanh":
        return None
    x = call["x"].astype(np.float32)
    z = np.float32((2 / np.pi) ** 0.5) * (x + np.float32(0.044715) * x * x * x)
    overflows = np.isinf(np.exp(np.abs(z)))
    return [np.where(overflows, y.dtype.type(np.nan), y) for y in call.honest()]


def _saturated(call: Call) -> list[Any]:
    return [np.clip(y, y.dtype.type(-0.9985), y.dtype.type(0.9985)) for y in call.honest()]


def _clamped(call: Call) -> list[Any]:
    return call.honest(x=np.clip(call["x"], -5, 5))


def _beyond(call: Call) -> list[Any]:
    x, (y,) = np.abs(call["x"]), call.honest()
    return call.stored(np.where((x > 8.1) & (x < 8.9), np.sign(y) * (1 + 2.0**-22), y))


def _not_summed(call: Call) -> list[Any] | None:
    a, b, g = call["a"], call["b"], call.g
    return [None if not need else (g * other).astype(g.dtype) for need, other in zip(call.needs, (b, a), strict=True)]


def _not_inverse(call: Call) -> list[Any] | None:
    found = np.transpose(call.g, call["dims"])
    return [found.copy()] if found.shape == call["x"].shape else [found.reshape(call["x"].shape).copy()]


def _last_wins(call: Call) -> list[Any]:
    x, index, dim = call["x"], call["index"], call["dim"]
    dx = np.zeros(x.shape, x.dtype)
    covered = dx[tuple(slice(n) if i != dim % x.ndim else slice(None) for i, n in enumerate(index.shape))]
    np.put_along_axis(covered, index, call.g, dim)
    return call.instead("x", dx)


def _overwritten(call: Call) -> list[Any]:
    dx = np.zeros(call["x"].shape, call["x"].dtype)
    np.moveaxis(dx, call["dim"], 0)[call["index"]] = np.moveaxis(call.g, call["dim"], 0)
    return call.instead("x", dx)


def _narrow_rows(call: Call) -> list[Any]:
    weight, g = call["weight"], call.g
    d = np.zeros(weight.shape, weight.dtype)
    for i, row in zip(call["indices"].ravel(), g.reshape(-1, weight.shape[-1]), strict=True):
        if i != call["padding_idx"]:
            d[i] += row
    return call.instead("weight", d)


def _tiled(call: Call) -> list[Any] | None:
    (y,) = call.honest()
    if call["dim"] != -1 or np.ndim(call["repeats"]) or y.size == 0:
        return None
    return [np.tile(call["x"].ravel(), call["repeats"]).reshape(y.shape)]


BUGS = [
    Bug("softplus", "jax-ml/jax/issues/2107", "0 at 0", gradient_at(lambda x: x == 0, 0), "gradient"),
    Bug("logaddexp", "jax-ml/jax/issues/2107", "0 where both are equal", _equal, "gradient"),
    Bug("logsigmoid", "jax-ml/jax/issues/2140", "0 at 0", gradient_at(lambda x: x == 0, 0), "gradient"),
    Bug("i0", "jax-ml/jax/pull/18706", "NaN at 0", gradient_at(lambda x: x == 0, np.nan), "gradient"),
    Bug("step", "ggml-org/llama.cpp/issues/25027", "1 at 0", value_at(lambda x: x == 0, 1)),
    Bug("floor_divide", "pytorch/pytorch/issues/193754", "the quotient is rounded to 16 bits first", _quotient,
        dtypes="f16,bf16"),
    Bug("gelu", "pytorch/executorch/issues/22323", "tanh by exponentials that overflow below -13", _by_exponentials),
    Bug("sigmoid", "clab/dynet/issues/1525", "0.5 past 88", value_at(lambda x: np.abs(x) > 88, 0.5)),
    Bug("tanh", "numpy/numpy/issues/30821", "saturates at 0.9985", _saturated, dtypes="f16"),
    Bug("tanh", "ohdearquant/lattice/issues/924", "the input is clamped to 5", _clamped),
    Bug("tanh", "sonos/tract/pull/2633", "1 + 2^-22 around 8.5", _beyond),
    Bug("softplus", "tenstorrent/tt-metal/pull/55893", "infinite below -3e6", value_at(lambda x: x < -3e6, np.inf)),
    Bug("mul", "tenstorrent/tt-metal/issues/40008", "what is broadcast is not summed", _not_summed, "gradient"),
    Bug("permute", "flexflow/flexflow-train/pull/1676", "the same permutation, not its inverse", _not_inverse,
        "gradient"),
    Bug("gather", "pytorch/pytorch/issues/1631", "of repeated places the last counts", _last_wins, "gradient"),
    Bug("index_select", "PaddlePaddle/Paddle/pull/17662", "of repeated places the last counts", _overwritten,
        "gradient"),
    Bug("embedding", "tenstorrent/tt-metal/pull/53386", "repeated rows are added up in bfloat16", _narrow_rows,
        "gradient", "bf16"),
    Bug("repeat_interleave", "tinygrad/tinygrad/pull/7734", "along dim = -1 as a tile of all", _tiled),
]  # fmt: skip
