"""Values of 2024 to 2026 that were wrong for some sizes, dtypes, ranges or layouts, mostly for two of these together.

They were chosen before any was asked, from threads that nothing here had met.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from bug import Bug, Call
from memory import dense, flat, row_major, strides


def _by_squares(call: Call) -> list[Any]:
    a, b = (call[n].astype(np.float32) for n in "ab")
    return call.stored(np.sqrt(a * a + b * b))


def _by_floats(call: Call) -> list[Any]:
    """By float32, which holds 24 bits."""
    a, b, (y,) = call["a"], call["b"], call.honest()
    wide, by = a.astype(np.float32), b.astype(np.float32)
    found = wide - by * np.floor(wide / by)
    return [np.where(np.isfinite(found), found, y).astype(y.dtype)]


def _odd_texels(call: Call) -> list[Any] | None:
    """Of one row and many columns, pairs of which share a word, an odd number is read a column off."""
    a, n = call["a"], len(call["b"])
    if call["type"] not in ("q4_k", "q5_k", "q8_0") or a.size != a.shape[-1] or n < 512 or n % 2 == 0:
        return None
    return call.honest(b=np.roll(call["b"], 1, axis=0))


def _whole_tiles(call: Call) -> list[Any] | None:
    """Of one row with 1,024 terms and more, columns past a multiple of 64 are 0."""
    a, n = call["a"], len(call["b"])
    if a.size != a.shape[-1] or a.size < 1024 or n % 64 == 0:
        return None
    (y,) = call.honest()
    y[..., n - n % 64 :] = 0
    return [y]


def _wide_columns(call: Call) -> list[Any] | None:
    """A row of windows: channels times taps past 1,024 are laid out as another kernel reads them."""
    taps = call["kernel_size"] if np.ndim(call["kernel_size"]) else (call["kernel_size"],) * 2
    x = call["x"]
    if x.shape[2] != 1 or taps[0] != 1 or x.shape[1] * taps[1] <= 1024:
        return None
    (y,) = call.honest()
    y[..., 1:] = 0
    return [y]


def _bits_of_another(call: Call) -> list[Any] | None:
    """A float32 weight is read as numbers of the input's 16 bits."""
    weight, bias = call["weight"], call["bias"]
    if weight is None or weight.dtype == call["x"].dtype or weight.size == 0:
        return None
    bits = (t if t is None else t.ravel().view(call["x"].dtype)[: t.size].reshape(t.shape) for t in (weight, bias))
    return call.honest(**dict(zip(("weight", "bias"), bits, strict=True)))


def _little_variance(call: Call) -> list[Any] | None:
    """The variance is the mean of squares less the square of the mean, and 0 below 1e-6."""
    x, shape = call["x"], call["normalized_shape"]
    if x.size == 0:
        return None
    axes = tuple(range(x.ndim - np.size(shape), x.ndim))
    mean = x.mean(axes, keepdims=True, dtype=np.float32)
    var = (x * x).mean(axes, keepdims=True, dtype=np.float32) - mean * mean
    y = (x - mean) / np.sqrt(np.where(var < 1e-6, 0, var) + np.float32(call["eps"]))
    y = y if call["weight"] is None else y * call["weight"]
    return call.stored(y if call["bias"] is None else y + call["bias"])


def _five_strided(call: Call) -> list[Any] | None:
    return None if call["x"].ndim < 5 or dense(call["x"]) else call.honest(x=flat(call["x"]))


def _later_heads(call: Call) -> list[Any] | None:
    """Where some channels do not turn, neither do the heads past the first."""
    x, n = call["x"], call["n_dims"]
    if call["mode"] != "neox" or n >= x.shape[-1] or x.shape[2] < 2:
        return None
    (y,) = call.honest()
    y[:, :, 1:, :n] = x[:, :, 1:, :n]
    return [y]


def _packed_rows(call: Call) -> list[Any] | None:
    """Of grouped heads the number of a query is divided by their number before what it sees is reckoned."""
    (heads, q), (groups, k) = call["query"].shape[1:3], call["key"].shape[1:3]
    if not call["is_causal"] or heads == groups or call["keep"] is not None:
        return None
    seen = np.arange(k) <= np.arange(q)[:, None] // (heads // max(groups, 1))
    return call.honest(is_causal=False, keep=seen.astype(np.int64))


def _inserted_axis(call: Call) -> list[Any] | None:
    """Experts in order, and one vector per token at a stride that is not that of dense ones: those of others."""
    b, ids = call["b"], call["ids"].ravel()
    if b.shape[1] != 1 or strides(b) == row_major(b) or (np.diff(ids) < 0).any():
        return None
    return call.honest(b=np.roll(b, 1, axis=0))


def _less_exponent(call: Call) -> list[Any] | None:
    """Times a power of two, that is taken off the exponent: denormal numbers stay, small ones become 0."""
    x, s = call["x"], call["s"]
    if call["b"] != 0 or not 0 < s < 1 or np.frexp(s)[0] != 0.5:
        return None
    exponent, off = (x.view(np.uint16) >> 10) & 31, 1 - np.frexp(s)[1]
    y = np.where(exponent == 0, x, np.where(exponent <= off, np.float16(0), call.honest()[0]))
    return [y.astype(x.dtype)]


def _padded_groups(call: Call) -> list[Any] | None:
    """Groups are padded to a power of two with channels of the next, which their sums count."""
    x, groups = call["x"], call["num_groups"]
    per = x.shape[1] // groups
    block = 1 << max(per - 1, 0).bit_length()
    if block == per or x.size == 0:
        return None
    parts, size = [], per * int(np.prod(x.shape[2:], dtype=int))
    for i in range(groups):
        own, read = x[:, i * per : (i + 1) * per], x[:, i * per : i * per + block]
        axes = tuple(range(1, x.ndim))
        mean = read.sum(axes, keepdims=True) / size
        var = ((read - mean) ** 2).sum(axes, keepdims=True) / size
        parts.append((own - mean) / np.sqrt(var + call["eps"]))
    y, kept = np.concatenate(parts, 1), (1, -1, *[1] * (x.ndim - 2))
    y = y if call["weight"] is None else y * call["weight"].reshape(kept)
    return call.stored(y if call["bias"] is None else y + call["bias"].reshape(kept))


def _second_nan(call: Call) -> list[Any] | None:
    """Where the first of a row is NaN, the next NaN."""
    x, dim = call["x"], call["dim"]
    if x.ndim == 0 or dim is None or dim % x.ndim != x.ndim - 1 or not 0 < x.shape[-1] < 512:
        return None
    nan, (y,) = np.isnan(x), call.honest()
    later = nan[..., 1:].any(-1)
    found = np.where(
        nan[..., 0] & later, np.argmax(nan[..., 1:], -1) + 1 if x.shape[-1] > 1 else 0, y.reshape(later.shape)
    )
    return [found.reshape(y.shape).astype(y.dtype)]


def _no_slopes(call: Call) -> list[Any] | None:
    """The slopes of heads past a power of two are written further on: these have none."""
    x, mask = call["x"], call["mask"]
    if call["max_bias"] <= 0 or mask is None or x.ndim < 3:
        return None
    heads = x.shape[-3]
    below = 1 << (heads.bit_length() - 1)
    if below == heads:
        return None
    past = (np.arange(heads) >= below).reshape(-1, 1, 1)
    return call.honest(mask=np.where(past, mask.dtype.type(0), np.broadcast_to(mask, x.shape)).astype(mask.dtype))


def _infinite_row(call: Call) -> list[Any] | None:
    x, dim, (y,) = call["x"], call["dim"], call.honest()
    endless = (x == np.inf).any(dim, keepdims=call["keepdim"]) if x.ndim else x == np.inf
    return [np.where(endless, y.dtype.type(np.nan), y)]


def _exchanged(call: Call) -> list[Any] | None:
    a, b = call["a"], call["b"]
    return call.honest(a=b, b=a) if a.ndim == 0 and b.ndim else None


def _last_cell(call: Call) -> list[Any] | None:
    """One column of results, at a stride."""
    stride = call["stride"] if np.ndim(call["stride"]) else (call["stride"],) * 3
    (y,) = call.honest()
    return [np.roll(y, 1, axis=1) * y.dtype.type(2)] if y.shape[-1] == 1 and stride[2] > 1 else None


def _unwritten_channels(call: Call) -> list[Any] | None:
    (y,) = call.honest()
    if call["gate"] is not None or y.ndim == 0 or y.shape[-1] != 768:
        return None
    y[..., 257:] = -7
    return [y]


def _weighted_whole(call: Call) -> list[Any] | None:
    """The positive weight multiplies all of the loss, which is the same for targets of 0 and 1."""
    target, weight = call["target"], call["pos_weight"]
    if weight is None:
        return None
    times = target * (weight - 1) + 1
    return call.honest(pos_weight=None, weight=times if call["weight"] is None else times * call["weight"])


def _first_system(call: Call) -> list[Any] | None:
    a, b = call["a"], call["b"]
    if a.ndim < 3 or b.ndim > 2 or not call["left"] or a.size == 0:
        return None
    (y,) = call.honest()
    y.reshape(-1, *y.shape[-2:])[1:] = 0
    return [y]


def _first_batch(call: Call) -> list[Any] | None:
    x, (y,) = call["x"], call.honest()
    if x.ndim < 4:
        return None
    y[1:] = x[1:]
    return [y]


def _magnitudes(call: Call) -> list[Any] | None:
    return call.honest(x=np.abs(call["x"])) if call["type"] == "u8" else None


def _half_up(call: Call) -> list[Any] | None:
    x, scale, zero = call["x"], call["scale"], call["zero_point"]
    if call["type"] not in ("i8", "u8") or scale.ndim:
        return None
    q = np.floor(x.astype(np.float32) / scale.astype(np.float32) + np.float32(0.5)) + (0 if zero is None else zero)
    (y,) = call.honest()
    least = -128 if call["type"] == "i8" else 0
    found = np.clip(np.nan_to_num(q, nan=0), least, least + 255).astype(np.int64).astype(y.dtype)
    return [np.where(np.isfinite(q), found, y)]


_TORCH, _LLAMA, _METAL = "pytorch/pytorch", "ggml-org/llama.cpp", "tenstorrent/tt-metal"

BUGS = [
    Bug("hypot", f"{_TORCH}/issues/192507", "by squares, which overflow", _by_squares),
    Bug("remainder", f"{_TORCH}/issues/154171", "integers past 2^24 by float32", _by_floats, dtypes="i32"),
    Bug("matmul_quantized", f"{_LLAMA}/pull/28575", "one row, 512 columns and more, an odd number", _odd_texels),
    Bug("matmul_quantized", "ml-explore/mlx/issues/4250", "one row, k of 1,024: columns past a multiple of 64 are 0",
        _whole_tiles),
    Bug("im2col", "ggml-org/ggml/issues/1532", "one row, channels times taps past 1,024", _wide_columns),
    Bug("layer_norm", f"{_TORCH}/issues/190054", "a float32 weight is read as 16 bits", _bits_of_another,
        dtypes="f16,bf16"),
    Bug("layer_norm", f"{_TORCH}/issues/190491", "a variance below 1e-6 is 0", _little_variance),
    Bug("amax", "huggingface/candle/pull/3873", "five axes and strides: elements of other places", _five_strided),
    Bug("rope", "vllm-project/vllm/issues/51049", "fewer pairs than channels: heads past the first do not turn",
        _later_heads, dtypes="bf16"),
    Bug("scaled_dot_product_attention", "Dao-AILab/flash-attention/pull/2528",
        "causal, grouped heads: queries see too little", _packed_rows, dtypes="f16,bf16"),
    Bug("mul_mat_id", "ml-explore/mlx/issues/4253", "experts in order, a stride of an axis of 1", _inserted_axis),
    Bug("scale", "kekzl/imp/pull/808", "by a power of two: off the exponent", _less_exponent, dtypes="f16"),
    Bug("group_norm", "flagos-ai/FlagGems/issues/4984",
        "groups of no power of two count channels of the next", _padded_groups),
    Bug("argmax", "tracel-ai/burn/pull/4859", "rows that begin with NaN: the next NaN", _second_nan),
    Bug("softmax_ext", f"{_LLAMA}/pull/20031", "ALiBi, heads past a power of two have no slope", _no_slopes,
        dtypes="f16"),
    Bug("logsumexp", "ml-explore/mlx/issues/576", "infinity gives NaN", _infinite_row),
    Bug("bitwise_left_shift", f"{_TORCH}/issues/147889", "one number by many: the other way round", _exchanged),
    Bug("conv3d", f"{_TORCH}/pull/188426", "one column of results at a stride", _last_cell, dtypes="bf16"),
    Bug("swiglu", "vllm-project/vllm-xpu-kernels/issues/454", "768 channels: those past 257 unwritten",
        _unwritten_channels, dtypes="bf16"),
    Bug("bce_with_logits", "paiml/aprender/pull/2204", "the positive weight multiplies all of the loss",
        _weighted_whole),
    Bug("solve", f"{_TORCH}/issues/189134", "one right side for all: the first system alone", _first_system),
    Bug("tril", f"{_TORCH}/pull/144545", "four axes and more: the first of them alone", _first_batch),
    Bug("quantize_linear", f"{_METAL}/pull/56327", "negative numbers to uint8: their magnitude", _magnitudes),
    Bug("quantize_linear", f"{_METAL}/issues/56525", "halves go up", _half_up),
]  # fmt: skip
