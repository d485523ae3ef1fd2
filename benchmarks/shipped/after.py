"""Bugs of 2022 to 2026, eight chosen after rows for a hold-out had been added, eight after those for the next.

They were chosen before any was asked.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from bug import Bug, Call
from layouts import read_flat
from memory import dense, flat, strides

_LOWEST = -(1 << 31)


def _truncated(call: Call) -> list[Any] | None:
    """Integers are divided towards zero."""
    a, b = (call[name].astype(np.float64) for name in "ab")
    return call.stored(np.trunc(a / b))


def _lowest_by_large(call: Call) -> list[Any] | None:
    """Of the least integer and a divisor past 2^21 the quotient collapses."""
    a, b, (y,) = call["a"], call["b"], call.honest()
    return [np.where((a == _LOWEST) & (np.abs(b.astype(np.float64)) > 2**21) & (b != _LOWEST), 0, y).astype(y.dtype)]


def _lanes_of_next_group(call: Call) -> list[Any] | None:
    """Channels up to the next power of two are added up, divided by as many as the group has."""
    x, groups = call["x"], call["num_groups"]
    size = x.shape[1] // groups
    if size & (size - 1) == 0:
        return None
    block, wide = 1 << size.bit_length(), x.reshape(*x.shape[:2], -1).astype(np.float32)
    y = np.empty_like(wide)
    for g in range(groups):
        read, count = wide[:, g * size : g * size + block], size * wide.shape[2]
        mean = read.sum((1, 2), keepdims=True) / count
        var = ((read - mean) ** 2).sum((1, 2), keepdims=True) / count
        y[:, g * size : (g + 1) * size] = (wide[:, g * size : (g + 1) * size] - mean) / np.sqrt(var + call["eps"])
    for name, change in (("weight", np.multiply), ("bias", np.add)):
        if call[name] is not None:
            y = change(y, call[name].astype(np.float32)[:, None])
    return call.stored(y.reshape(x.shape))


def _refused(call: Call) -> list[Any] | None:
    """Many short rows share a block, whose shapes clash."""
    x = call["x"]
    if x.ndim and x.shape[-1] < 64 and x.size >= 1024 * x.shape[-1]:
        raise RuntimeError("shapes of a block do not broadcast")
    return None


def _past_whole_steps(call: Call) -> list[Any] | None:
    x = call["x"]
    n = x.shape[-1]
    if n <= 512 or n % 512 == 0 or not call.needs[0]:
        return None
    return call.instead("x", np.where(np.arange(n) < n // 512 * 512, call.honest()[0], 0))


def _softcap_of_exponentials(call: Call) -> list[Any] | None:
    """A row with a score past 88 times the cap: infinite by infinite."""
    if not call["softcap"]:
        return None
    query, key, (y,) = call["query"], call["key"], call.honest()
    if query.shape[-3] != key.shape[-3]:
        key = np.repeat(key, query.shape[-3] // key.shape[-3], axis=-3)
    scale = call["scale"] or query.shape[-1] ** -0.5
    scores = query.astype(np.float64) @ np.swapaxes(key, -1, -2).astype(np.float64) * scale / call["softcap"]
    return [np.where((np.abs(scores) > 88.8).any(-1, keepdims=True), y.dtype.type(np.nan), y)]


def _long_columns(call: Call) -> list[Any] | None:
    """What a column has past 4,096 is not written."""
    (y,) = call.honest()
    rows = np.arange(y.shape[-2])[:, None]
    return [np.where(rows < 4096, y, 0).astype(y.dtype)] if len(rows) > 4096 else None


def _two_results(call: Call) -> list[Any] | None:
    weight, (y,) = call["weight"], call.honest()
    return [np.zeros_like(y)] if len(weight) == 2 and weight.shape[1] % 16 == 0 else None


def _read_flat(call: Call) -> list[Any] | None:
    """Where an index lies otherwise than row by row."""
    return None if dense(call["index"]) else call.honest(index=flat(call["index"]))


def _past_15_bits(call: Call) -> list[Any] | None:
    """Of more rows than 15 bits count, what the weight gets is not cleared first."""
    x, weight = call["x"], call["weight"]
    if x.ndim < 2 or x.size // max(x.shape[-1], 1) <= 32768 or not call.needs[1] or weight.size == 0:
        return None
    return call.instead("weight", call.honest()[1].astype(np.float32) * 1000)


def _decoded(call: Call) -> list[Any] | None:
    """One query of heads of 256: half of a head is read."""
    query = call["query"]
    if query.shape[-1] != 256 or query.shape[-2] != 1:
        return None
    return call.honest(query=np.where(np.arange(256) < 128, query, query.dtype.type(0)))


def _no_sixteen(call: Call) -> list[Any] | None:
    """Rows with a scale each, of no multiple of sixteen, in 8-bit floats: refused."""
    x, scale = call["x"], call["scale"]
    if call["type"] != "f8e4m3" or scale.ndim == 0 or scale.shape[-1] != 1 or x.shape[-1] % 16 == 0 or x.size == 0:
        return None
    raise RuntimeError(f"Hidden dimension must be divisible by 16, but got {x.shape[-1]}")


def _far_apart(call: Call) -> list[Any] | None:
    """Of long transforms along an axis whose numbers lie apart, and not by as many as there are transforms."""
    x, dim = call["x"], call["dim"]
    if x.ndim == 0 or x.shape[dim] <= 4096 or strides(x)[dim] in (1, x.size // x.shape[dim]):
        return None
    return call.honest(x=np.roll(x, 1, axis=dim))


def _four_of_bias(call: Call) -> list[Any] | None:
    """A product of few channels, four of which are one vector of a result: the bias is no vector."""
    weight = call["weight"]
    few = weight.shape[0] == 4 and weight.shape[1] < 8 and call["groups"] == 1
    if weight.shape[2:] != (1, 1) or not few or call["bias"] is None:
        return None
    raise RuntimeError("Tensor original shape {4} cannot reshape to {4} with component number 4")


def _grid_of_channels(call: Call) -> list[Any] | None:
    if max(call["x"].shape[-4:-2], default=0) <= 65535 or call["dim"] % call["x"].ndim != call["x"].ndim - 1:
        return None
    raise RuntimeError("CUDA error: invalid argument")


_ORT = "microsoft/onnxruntime"

BUGS = [
    Bug("floor_divide", "NVIDIA/warp/issues/1918", "integers of other signs are divided towards zero", _truncated,
        dtypes="i8,i16,i32"),
    Bug("floor_divide", "tenstorrent/tt-metal/pull/55515", "-2^31 by more than 2^21: the quotient collapses",
        _lowest_by_large, dtypes="i32"),
    Bug("group_norm", "flagos-ai/FlagGems/pull/4985", "channels of a group no power of two: those of the next count",
        _lanes_of_next_group),
    Bug("rms_norm", "BobMcDear/attorch/issues/17", "rows below 64, 1,024 and more of them: refused", _refused,
        "gradient"),
    Bug("layer_norm", "karpathy/llm.c/pull/472", "rows no multiple of 512: zeros past the last whole one",
        _past_whole_steps, "gradient"),
    Bug("scaled_dot_product_attention", "vllm-project/vllm/issues/56578", "a score past 88 softcaps: NaN",
        _softcap_of_exponentials),
    Bug("im2col", "ggml-org/llama.cpp/issues/18164", "columns past 4,096: wrong", _long_columns, dtypes="f32,f16"),
    Bug("linear", "mitsuba-renderer/drjit-core/pull/200", "two results of a multiple of 16: zeros", _two_results,
        dtypes="f16"),
    Bug("rope", "vllm-project/vllm/issues/16658", "strides are ignored", read_flat("x"), dtypes="bf16"),
    Bug("scatter", "ROCm/AMDMIGraphX/pull/4919", "strides of the index are ignored", _read_flat),
    Bug("linear", "pytorch/pytorch/issues/177116", "rows past 32,768: the gradient of the weight is a thousandfold",
        _past_15_bits, "gradient"),
    Bug("scaled_dot_product_attention", "flashinfer-ai/flashinfer/issues/1993", "one query of heads of 256: wrong",
        _decoded, dtypes="f16,bf16"),
    Bug("quantize_linear", "sgl-project/sglang/pull/8543", "rows of no multiple of 16 with a scale each: refused",
        _no_sixteen, dtypes="f16,bf16"),
    Bug("fft", "ROCm/rocFFT/pull/388", "long transforms of numbers that lie apart", _far_apart),
    Bug("conv2d", f"{_ORT}/pull/24496", "1 x 1, few channels into four, a bias: it dies", _four_of_bias),
    Bug("l2_norm", "ggml-org/llama.cpp/pull/28175", "outer axes past 65,535: it dies", _grid_of_channels),
]  # fmt: skip
