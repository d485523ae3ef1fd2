"""Eight bugs of 2024 to 2026 that were chosen after rows for the last hold-out had been added, before any was asked."""

from __future__ import annotations

from typing import Any

import numpy as np
from bug import Bug, Call

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
]  # fmt: skip
