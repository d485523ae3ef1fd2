"""Bugs of 2024 to 2026 that take two things together: a size and a layout, a type and a range, a size and a parameter.

They were chosen before any was asked, from threads that nothing here had met.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from bug import Bug, Call, Wrong
from layouts import read_flat, written_flat
from memory import dense, flat, reread, row_major, strides


def _fifth_axis(call: Call) -> list[Any] | None:
    """A negative axis of five is counted from the fourth."""
    x, dim = call["x"], call["dim"]
    if x.ndim != 5 or not isinstance(dim, int) or dim >= 0:
        return None
    (y,), (other,) = call.honest(), call.honest(dim=(dim + 4) % 5)
    short = np.zeros(y.size, y.dtype)
    short[: other.size] = other.ravel()[: y.size]
    return [short.reshape(y.shape)]


def _long_index(call: Call) -> list[Any] | None:
    if call["index"].size <= 1024:
        return None
    (y,) = call.honest()
    np.moveaxis(y, call["dim"], 0)[1024:] = 0
    return [y]


def _tall(call: Call) -> list[Any] | None:
    if call["a"].ndim < 2 or call["a"].shape[-2] <= 32768:
        return None
    (y,) = call.honest()
    np.moveaxis(y, -2 if call["b"].ndim > 1 else -1, 0)[32768:] = 0
    return [y]


def _batches_of_indices(call: Call) -> list[Any] | None:
    index, (y,) = call["indices"], call.honest()
    batches = int(np.prod(index.shape[:-1], dtype=int))
    if index.ndim < 2 or batches <= 65535:
        return None
    y.reshape(batches, -1)[65535:] = 0
    return [y]


def _one_matrix_of_three(call: Call) -> list[Any] | None:
    """Of (n, 1, m, k) that is not dense, the stride between matrices is that of the axis of 1."""
    for name in ("a", "b"):
        x = call[name]
        if x.ndim == 4 and x.shape[0] > 1 and x.shape[1] == 1 and not dense(x):
            return call.honest(**{name: reread(x, (strides(x)[1], *strides(x)[1:]))})
    return None


def _weight_flat_for_dx(call: Call) -> list[Any] | None:
    weight = call["weight"]
    if dense(weight) or not call.needs[0]:
        return None
    return call.instead("x", call.honest(weight=flat(weight))[0])


def _one_cotangent(call: Call) -> list[Any] | None:
    """Rows past the first read past the only element of a broadcast cotangent."""
    g = call.g
    if g.ndim == 0 or g.size < 2 or any(strides(g)):
        return None
    found = call.honest()
    if found[0] is None or found[0].ndim < 2:
        return None
    dx = found[0].copy()
    dx[1:] = np.nan
    return [dx, *found[1:]]


def _last_step(multiple: int, rows: int) -> Wrong:
    """Of a product of many rows, what is left of k past a multiple is left out."""

    def wrong(call: Call) -> list[Any] | None:
        a, k = call["a"], call["a"].shape[-1]
        if k % multiple == 0 or k < multiple or a.ndim < 2 or a.shape[-2] < rows:
            return None
        return call.honest(a=np.where(np.arange(k) < k - k % multiple, a, a.dtype.type(0)))

    return wrong


def _short_sequence(call: Call) -> list[Any] | None:
    x, weight = call["x"], call["weight"]
    t, k = x.shape[-1], weight.shape[-1]
    if t >= k - 1 or not call.needs[0]:
        return None
    return call.instead("x", np.roll(call.honest()[0], k - 1 - t, axis=-1))


def _index_flat(call: Call) -> list[Any] | None:
    index = call["index"]
    if index.ndim != 2 or 0 not in strides(index) or dense(index):
        return None
    return call.honest(index=reread(index, row_major(index)))


def _padded_with_infinity(call: Call) -> list[Any] | None:
    """Padding of rows to a power of two comes before the last of the row, where these are as low."""
    x, dim = call["x"], call["dim"]
    if x.ndim == 0 or not call["descending"]:
        return None
    n = x.shape[dim]
    low = np.any(x == -np.inf, axis=dim, keepdims=True)
    if n & (n - 1) == 0 or not low.any():
        return None
    y, indices = call.honest()
    return [np.where(low & (y == -np.inf), np.nan, y).astype(y.dtype), indices]


def _odd_channels(call: Call) -> list[Any] | None:
    """Of channels past a multiple of four the cells are added up as they are."""
    weight = call["weight"]
    c = call["x"].shape[1] // call["groups"]
    if c % 2 == 0 or c < 5:
        return None
    rest = (np.arange(weight.shape[0]) % c >= c - c % 4).reshape(-1, 1, 1, 1)
    return call.honest(weight=np.where(rest, weight.dtype.type(1), weight))


def _tall_kernel(call: Call) -> list[Any] | None:
    x, weight = call["x"], call["weight"]
    if max(weight.shape[2:]) < 256 or len(x) < 2:
        return None
    return call.honest(weight=weight[..., ::-1, ::-1].copy())


def _long_grouped_kernel(call: Call) -> list[Any] | None:
    weight = call["weight"]
    if call["groups"] == 1 or weight.shape[-1] < 32:
        return None
    return call.honest(weight=np.roll(weight, 1, axis=-1))


def _wide_output(call: Call) -> list[Any] | None:
    if len(call["weight"]) <= 65536:
        return None
    (y,) = call.honest()
    y[:, 65536:] = 0
    return [y]


def _rope_in_place(call: Call) -> list[Any] | None:
    return None if call.out is None else written_flat(call)


def _by_squares(call: Call) -> list[Any] | None:
    """The variance is the mean of squares less the square of the mean, each in the dtype."""
    x = call["x"]
    axes = (0, *range(2, x.ndim))
    kept = [1] * x.ndim
    kept[1] = x.shape[1]
    wide = x.astype(np.float32)
    mean = wide.mean(axes).astype(x.dtype).astype(np.float32)
    squares = (wide * wide).astype(x.dtype).astype(np.float32).mean(axes).astype(x.dtype).astype(np.float32)
    var = (squares - (mean * mean).astype(x.dtype).astype(np.float32)).astype(x.dtype).astype(np.float32)
    y = (wide - mean.reshape(kept)) / np.sqrt(var + np.float32(call["eps"])).reshape(kept)
    for name, apply in (("weight", np.multiply), ("bias", np.add)):
        if call[name] is not None:
            y = apply(y, call[name].astype(np.float32).reshape(kept))
    return [*call.stored(y), *call.honest()[1:]]


def _overflowing(call: Call) -> list[Any] | None:
    x = call["x"]
    if x.ndim < 3 or not np.isfinite(x).all():
        return None
    wide = x.astype(np.float32)
    apart = wide - wide.mean(tuple(range(2, x.ndim)), keepdims=True)
    lost = np.isinf((apart * apart).sum(tuple(range(2, x.ndim)), keepdims=True))
    if not lost.any():
        return None
    (y,), kept = call.honest(), [1, -1, *[1] * (x.ndim - 2)]
    none = 0 if call["bias"] is None else call["bias"].reshape(kept)
    return call.stored(np.where(lost, none, y))


def _raw_logits(call: Call) -> list[Any] | None:
    if call["renormalize"] or call["gating"] != "softmax":
        return None
    ids = call.honest()[1]
    return [(np.take_along_axis(call["logits"], ids, -1) * call["scale"]).astype(call.dtype), ids]


def _half_of_the_tail(call: Call) -> list[Any] | None:
    """Of k past a multiple of 64, every other 32 columns get nothing."""
    b, k = call["b"], call["b"].shape[-1]
    if k % 64 == 0 or len(b) < 16:
        return None
    (y,), (short,) = call.honest(), call.honest(b=np.where(np.arange(k) < k - k % 64, b, b.dtype.type(0)))
    return [np.where(np.arange(y.shape[-1]) % 64 >= 32, short, y)]


def _many_tokens(call: Call) -> list[Any] | None:
    ids, (y,) = call["ids"], call.honest()
    if ids.size <= 32768 or ids.size % 64 == 0:
        return None
    y.reshape(ids.size, -1)[: ids.size - 32768] = 0
    return [y]


def _unsorted(call: Call) -> list[Any] | None:
    """Rows past 32,768 are sorted in two halves that are not merged."""
    x, dim = call["x"], call["dim"]
    if x.ndim == 0 or x.shape[dim] <= 32768:
        return None
    halves = np.split(x, [32768], axis=dim)
    parts = [call.honest(x=half) for half in halves]
    return [np.concatenate([p[0] for p in parts], dim),
            np.concatenate([parts[0][1], parts[1][1] + 32768], dim).astype(parts[0][1].dtype)]  # fmt: skip


def _from_the_left(call: Call) -> list[Any] | None:
    """Fewer queries than keys count from the first key."""
    query, key = call["query"], call["key"]
    more = key.shape[-2] - query.shape[-2]
    if more <= 0 or call["left"] >= 0:
        return None
    return call.honest(right=call["right"] - more)


def _narrow_group(call: Call) -> list[Any] | None:
    """One row of bfloat16: of k past 256 a quarter of the lanes count."""
    a, k = call["a"], call["a"].shape[-1]
    if k <= 256 or a.size != k:
        return None
    lanes = np.arange(k) % 32 < 8
    return call.honest(a=np.where((np.arange(k) < 256) | lanes, a, a.dtype.type(0)))


def _vector_flat(call: Call) -> list[Any] | None:
    b = call["b"]
    if b.ndim < 2 or b.shape[-1] != 1 or dense(b):
        return None
    return call.honest(b=flat(b))


def _both_views(call: Call) -> list[Any] | None:
    a, b = call["a"], call["b"]
    if dense(a) or dense(b) or a.shape != b.shape:
        return None
    return call.honest(a=flat(a), b=flat(b))


def _nothing_seen(call: Call) -> list[Any] | None:
    x, dim = call["x"], call["dim"]
    if x.ndim == 0 or x.shape[dim] >= 128:
        return None
    none = np.all(x == -np.inf, axis=dim, keepdims=True)
    return [np.where(none, x.dtype.type(0), call.honest()[0])] if none.any() else None


def _no_gradient(call: Call) -> list[Any] | None:
    if call["reduction"] != "none" or not call.needs[0]:
        return None
    return call.instead("x", np.zeros_like(call["x"]))


_NAX = "ml-explore/mlx"
_LLAMA = "ggml-org/llama.cpp"

BUGS = [
    Bug("sum", "pytorch/pytorch/issues/132732", "of five axes a negative one is counted from the fourth", _fifth_axis),
    Bug("embedding", f"{_LLAMA}/pull/15882", "batches of indices past 65,535 are 0", _batches_of_indices),
    Bug("matmul", f"{_LLAMA}/pull/15038", "of strided (n, 1, m, k) the first matrix for all", _one_matrix_of_three),
    Bug("conv2d", "huggingface/candle/issues/3735", "a strided weight is read as dense for dx", _weight_flat_for_dx,
        "gradient"),
    Bug("cross_entropy", "ROCm/TransformerEngine/pull/623", "an expanded cotangent is read past it", _one_cotangent,
        "gradient"),
    Bug("silu", "pytorch/pytorch/pull/139006", "strides are ignored", read_flat("x")),
    Bug("matmul_quantized", f"{_LLAMA}/pull/8311", "many rows: k past a multiple of 128 is left out",
        _last_step(128, 9)),
    Bug("softmax", "ml-explore/mlx/issues/657", "slices of rows are read as dense", read_flat("x")),
    Bug("causal_conv1d", "fla-org/flash-linear-attention/issues/1140", "fewer steps than taps: dx lies elsewhere",
        _short_sequence, "gradient"),
    Bug("index_select", "iree-org/iree/issues/19749", "strides are ignored, in 16 bits", read_flat("x"), dtypes="f16"),
    Bug("upsample_nearest", "microsoft/onnxruntime/issues/31986", "channels last are read as first", read_flat("x")),
    Bug("index_select", "flagos-ai/FlagGems/issues/265", "more than 1,024 places: the rest is 0",
        _long_index),
    Bug("scatter_add", "flagos-ai/Torch-FL/issues/349", "an expanded index is read as dense", _index_flat),
    Bug("sort", "flagos-ai/FlagGems/issues/503", "descending, -inf in rows of no power of two: NaN",
        _padded_with_infinity, dtypes="f16"),
    Bug("conv_transpose2d", "microsoft/onnxruntime/pull/27749", "5, 7, ... channels: the last without weights",
        _odd_channels),
    Bug("conv2d", "pytorch/pytorch/issues/188335", "a kernel of 256 and more, several images", _tall_kernel),
    Bug("conv1d", "pytorch/pytorch/issues/129207", "channels past 65,536 are 0", _wide_output),
    Bug("conv1d", "modular/modular/issues/6129", "groups and a kernel of 32 and more", _long_grouped_kernel),
    Bug("rope", f"{_LLAMA}/issues/19292", "in place, gapped rows are written as dense", _rope_in_place),
    Bug("pad", f"{_LLAMA}/pull/22148", "strides are ignored", read_flat("x")),
    Bug("batch_norm_training", "tenstorrent/tt-metal/issues/45968", "the variance from squares, in bfloat16",
        _by_squares, dtypes="bf16"),
    Bug("instance_norm", "pytorch/pytorch/pull/178123", "a variance past float32 gives zeros", _overflowing),
    Bug("topk_moe", "sgl-project/sglang/pull/35160", "without renormalize the logits themselves", _raw_logits),
    Bug("mul_mat_id_quantized", f"{_NAX}/pull/4009", "k past a multiple of 64 is left out of half the columns",
        _half_of_the_tail, dtypes="f32,f16,bf16"),
    Bug("mul_mat_id_quantized", f"{_NAX}/pull/3922", "more than 32,768 rows: the first are 0", _many_tokens,
        dtypes="f32,f16,bf16"),
    Bug("sort", f"{_NAX}/issues/882", "rows past 32,768 are not sorted as one", _unsorted),
    Bug("matmul", "pytorch/pytorch/issues/116769", "rows past 32,768 are 0", _tall),
    Bug("sliding_window_attention", "gittensor-ai-lab/sparkinfer/pull/4", "fewer queries than keys: from the left",
        _from_the_left),
    Bug("matmul_quantized", "bitsandbytes-foundation/bitsandbytes/issues/1932", "one row of bfloat16, k past 256",
        _narrow_group, dtypes="bf16"),
    Bug("matmul", f"{_LLAMA}/pull/13343", "a strided matrix of one column is read as dense", _vector_flat),
    Bug("add", f"{_LLAMA}/issues/12390", "two views are read as dense", _both_views),
    Bug("softmax", f"{_NAX}/issues/1467", "rows of -inf below 128: zeros", _nothing_seen),
    Bug("cross_entropy", "microsoft/DirectML/issues/739", "unreduced, the gradient is 0", _no_gradient, "gradient"),
]  # fmt: skip
