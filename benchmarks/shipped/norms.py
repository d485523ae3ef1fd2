"""Softmaxes and norms."""

from __future__ import annotations

from typing import Any

import numpy as np
from bug import Bug, Call


def _slope(call: Call) -> list[Any] | None:
    x, mask, most = call["x"], call["mask"], call["max_bias"]
    if most <= 0 or mask is None or x.ndim < 4 or x.shape[0] < 2:
        return None
    heads = x.shape[-3]
    below = 2 ** int(np.log2(heads))
    h = np.arange(x.shape[0] * heads, dtype=np.float64).reshape(x.shape[0], heads, 1, 1)
    slope = np.where(h < below, 2 ** (-most / below * (h + 1)), 2 ** (-most / 2 / below * (2 * (h - below) + 1)))
    return call.honest(mask=(np.broadcast_to(mask, x.shape) * slope / slope[:1]).astype(x.dtype))


def _no_maximum(call: Call) -> list[Any]:
    e = np.exp(call["x"])
    return call.stored(e / e.sum(call["dim"], keepdims=True))


def _idle_lanes(call: Call) -> list[Any] | None:
    x, dim = call["x"], call["dim"]
    if x.ndim == 0 or x.shape[dim] >= 32:
        return None
    e = np.exp(x - np.maximum(x.max(dim, keepdims=True, initial=-np.inf), 0))
    return call.stored(e / e.sum(dim, keepdims=True))


def _two_rows(call: Call) -> list[Any] | None:
    x = call["x"]
    n, rows, unit = x.shape[-1], x.size // max(x.shape[-1], 1), 128 if x.dtype.itemsize > 2 else 256
    if not unit < n <= 2 * unit or rows < 2:
        return None
    wide = x.astype(np.float32).reshape(rows, n)
    squares = (wide**2).sum(-1)
    pairs = squares[: rows // 2 * 2].reshape(-1, 2).sum(-1).repeat(2)
    mixed = np.concatenate([pairs, squares[rows // 2 * 2 :]])
    y = wide / np.sqrt(mixed / n + call["eps"])[:, None]
    return call.stored(y.reshape(x.shape) * (1 if call["weight"] is None else call["weight"].astype(np.float32)))


def _padded_variance(call: Call) -> list[Any] | None:
    x = call["x"]
    n = x.shape[-1]
    block = 1 << max(n - 1, 0).bit_length()
    if np.size(call["normalized_shape"]) != 1 or block == n:
        return None
    mean = x.mean(-1, keepdims=True)
    var = x.var(-1, keepdims=True) + (block - n) * mean**2 / n
    y = (x - mean) / np.sqrt(var + call["eps"])
    y = y if call["weight"] is None else y * call["weight"]
    return call.stored(y if call["bias"] is None else y + call["bias"])


def _tile_sums(call: Call) -> list[Any] | None:
    x, g = call["x"], call.g
    if np.size(call["normalized_shape"]) != 1 or x.size == 0:
        return None
    n = x.shape[-1]
    rows, up = x.reshape(-1, n), g.reshape(-1, n)
    rstd = 1 / np.sqrt(rows.var(-1, keepdims=True) + call["eps"])
    xhat = (rows - rows.mean(-1, keepdims=True)) * rstd
    up = up if call["weight"] is None else up * call["weight"]

    def tiled(t: Any) -> Any:
        return np.concatenate([np.full((len(s), 1), s.sum()) for s in np.split(t, range(4, len(t), 4))])

    dx = rstd * (up - tiled(up) / n - xhat * tiled(up * xhat) / n)
    return call.instead("x", dx.reshape(x.shape))


def _frozen(call: Call) -> list[Any] | None:
    if call.needs[0] or call["x"].size == 0:
        return None
    return [d if d is None else np.full_like(d, 12345) for d in call.honest()]


def _eps(call: Call) -> list[Any]:
    return call.honest(eps=1e-5)


BUGS = [
    Bug("softmax_ext", "ggml-org/llama.cpp/issues/10683", "ALiBi's heads are counted over the batch too", _slope),
    Bug("softmax", "ggml-org/llama.cpp/pull/2665", "no maximum is taken off", _no_maximum),
    Bug("softmax", "m0at/rvllm/pull/1", "rows below 32: idle lanes give the maximum a 0", _idle_lanes),
    Bug("rms_norm", "ml-explore/mlx/pull/3792", "rows of 129 to 256 (257 to 512 in 16 bits): two share a sum",
        _two_rows, dtypes="f32,f16"),
    Bug("layer_norm", "triton-lang/triton/issues/9838", "the variance counts the padding to a power of two",
        _padded_variance),
    Bug("layer_norm", "flagos-ai/FlagGems/pull/59", "dx's sums are those of four rows", _tile_sums, "gradient"),
    Bug("layer_norm", "pytorch/pytorch/issues/183825", "garbage where the input needs no gradient", _frozen,
        "gradient"),
    Bug("batch_norm", "flexflow/flexflow-train/pull/1676", "eps is a constant", _eps),
]  # fmt: skip
