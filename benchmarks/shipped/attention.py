"""Attention, experts and rotations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from bug import Bug, Call


def _parts(call: Call) -> tuple[Any, Any, Any, float]:
    q, k, v = (call[n].astype(np.float64) for n in ("query", "key", "value"))
    groups = q.shape[1] // max(k.shape[1], 1)
    scale = 1 / math.sqrt(q.shape[-1]) if call["scale"] is None else call["scale"]
    return q, np.repeat(k, groups, 1), np.repeat(v, groups, 1), scale


def _plain(call: Call) -> bool:
    """Whether softmax(scale q kᵀ) v is all that is asked for."""
    absent = all(call[n] is None for n in ("attn_mask", "keep", "sinks"))
    return absent and not call["is_causal"] and not call["softcap"] and call["query"].size > 0


def _ragged(call: Call) -> list[Any] | None:
    keys = call["key"].shape[-2]
    if keys <= 128 or keys % 128 == 0 or not _plain(call):
        return None
    q, k, v, scale = _parts(call)
    s = np.pad(q @ np.swapaxes(k, -1, -2) * scale, [*[(0, 0)] * 3, (0, -keys % 128)])
    e = np.exp(s - s.max(-1, keepdims=True))
    return call.stored((e / e.sum(-1, keepdims=True))[..., :keys] @ v)


def _sentinel(call: Call) -> list[Any] | None:
    if not _plain(call):
        return None
    q, k, _, _ = _parts(call)
    (y,) = call.honest()
    y[(q @ np.swapaxes(k, -1, -2)).max(-1) < -5e4] = 0
    return [y]


def _nothing_seen(call: Call) -> list[Any] | None:
    if not call["causal"]:
        return None
    found = call.honest()
    q, k = call["cu_seqlens_q"], call["cu_seqlens_k"]
    for a, b, c, d in zip(q[:-1], q[1:], k[:-1], k[1:], strict=True):
        if found[0] is not None:
            found[0][a : max(a, b - (d - c))] = np.nan
    return found


def _first_block(call: Call) -> list[Any] | None:
    keep, mask = call["keep"], call["attn_mask"]
    shape = (*call["query"].shape[:-1], call["key"].shape[-2])
    left_out = np.zeros(shape, bool) if keep is None else np.broadcast_to(keep == 0, shape)
    left_out = left_out if mask is None else left_out | np.isneginf(mask)
    if shape[-1] <= 32:
        return None
    (y,) = call.honest()
    y[left_out[..., :32].all(-1)] = np.nan
    return [y]


def _blocks_outside(block: int) -> Any:
    def wrong(call: Call) -> list[Any] | None:
        q, k = call["query"].shape[-2], call["key"].shape[-2]
        if call["left"] < 0 or k <= block:
            return None
        (y,) = call.honest()
        y[..., np.arange(q) + k - q - call["left"] >= block, :] = np.nan
        return [y]

    return wrong


def _grouped(call: Call) -> list[Any] | None:
    keys = call["key"].shape[-2]
    if call["query"].shape[1] == call["key"].shape[1] or keys == 0 or keys % 256 or call["query"].shape[-2] > 1:
        return None
    return [np.full_like(y, np.nan) for y in call.honest()]


def _one_more(call: Call) -> list[Any] | None:
    return call.honest(left=call["left"] + 1) if call["left"] >= 0 else None


def _whole_block(call: Call) -> list[Any]:
    slots = call["key_cache"].shape[1]
    return call.honest(context_lens=-(-call["context_lens"] // slots) * slots)


def _sums_in_f16(call: Call) -> list[Any] | None:
    if not _plain(call):
        return None
    q, k, v, scale = _parts(call)
    s = q @ np.swapaxes(k, -1, -2) * scale
    e = np.exp(s - s.max(-1, keepdims=True))
    total = np.zeros(e.shape[:-1], np.float16)
    for i in range(e.shape[-1]):
        total += e[..., i].astype(np.float16)
    return call.stored(e @ v / total[..., None].astype(np.float64))


def _few_experts(call: Call) -> list[Any] | None:
    logits = call["logits"]
    return call.honest(logits=logits[:, :256]) if logits.shape[-1] > 256 and call["k"] <= 256 else None


def _one_tile(call: Call) -> list[Any] | None:
    if (call["logits"].shape[-1], call["k"], call["gating"]) != (128, 8, "sigmoid"):
        return None
    return call.honest(gating="softmax")


def _one_token(call: Call) -> list[Any] | None:
    if call["x"].shape[1] != 1 or call["x"].shape[0] < 2:
        return None
    (y,) = call.honest()
    y[1:] = 0
    return [y]


_SDPA, _WINDOW = "scaled_dot_product_attention", "sliding_window_attention"
BUGS = [
    Bug(_SDPA, "jax-ml/jax/issues/27224", "keys past the last whole block of 128 go on with scores of 0", _ragged),
    Bug(_SDPA, "flashinfer-ai/flashinfer/pull/4401", "scores below -5e4 do not raise the maximum: zeros", _sentinel),
    Bug(
        "varlen_attention",
        "Dao-AILab/flash-attention/issues/443",
        "queries without keys: dquery is NaN",
        _nothing_seen,
        "gradient",
    ),
    Bug(_SDPA, "ggml-org/llama.cpp/pull/6438", "the first 32 keys left out: -inf less -inf", _first_block),
    Bug(_WINDOW, "pytorch/pytorch/issues/127055", "the first 512 keys left out: NaN", _blocks_outside(512)),
    Bug(_SDPA, "ggml-org/ggml/issues/1621", "one query, grouped heads, keys a multiple of 256: NaN", _grouped),
    Bug(_WINDOW, "zml/zml/pull/763", "one key more on the left", _one_more),
    Bug("paged_attention", "vllm-project/vllm/pull/2231", "the last block counts whole", _whole_block),
    Bug(_SDPA, "ggml-org/llama.cpp/pull/19098", "weights are added up in float16", _sums_in_f16, dtypes="f16"),
    Bug("topk_moe", "kekzl/imp/pull/2056", "experts past 256 are never chosen", _few_experts),
    Bug("topk_moe", "MetaX-MACA/vLLM-metax/issues/270", "8 of 128 by sigmoid: weights by softmax", _one_tile),
    Bug("rope", "ml-explore/mlx/issues/3494", "one token: batches past the first are 0", _one_token),
]
