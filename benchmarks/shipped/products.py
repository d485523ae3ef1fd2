"""Products of matrices, convolutions and recurrences."""

from __future__ import annotations

from typing import Any

import numpy as np
from bug import Bug, Call


def _two(call: Call) -> bool:
    return bool(call["a"].ndim == call["b"].ndim == 2 and call["a"].size and call["b"].size)


def _vector(call: Call) -> list[Any] | None:
    a, b = call["a"], call["b"]
    if not _two(call) or a.shape[1] < 256 or 1 not in (a.shape[0], b.shape[1]):
        return None
    kept = np.arange(a.shape[1]) % 256 < 128
    return call.honest(a=np.where(kept, a, a.dtype.type(0)))


def _odd_rows(call: Call) -> list[Any] | None:
    a, (y,) = call["a"], call.honest()
    if y.shape[-1] % 2 == 0 or a.ndim != 2 or len(a) < 2:
        return None
    y[1:, 0] = y[:-1, -1]
    return [y]


def _tail(call: Call) -> list[Any] | None:
    a, b = call["a"], call["b"]
    if not _two(call) or a.shape[1] % 32 == 0 or a.shape[1] < 32:
        return None
    (m, k), n = a.shape, b.shape[1]
    more = np.arange(k, k + -k % 32)
    past_a = np.ravel(a)[(np.arange(m)[:, None] * k + more) % a.size]
    past_b = np.ravel(b)[(more[:, None] * n + np.arange(n)) % b.size]
    return call.stored(np.asarray(call.honest()[0], np.float32) + past_a @ past_b)


def _narrow_sums(call: Call) -> list[Any] | None:
    a, b = call["a"], call["b"]
    if not _two(call):
        return None
    y = np.zeros((a.shape[0], b.shape[1]), a.dtype)
    for i in range(a.shape[1]):
        y = (y.astype(np.float32) + np.outer(a[:, i], b[i]).astype(np.float32)).astype(a.dtype)
    return [y]


def _odd_lane(call: Call) -> list[Any] | None:
    a = call["a"]
    if not _two(call) or a.shape[1] % 2 == 0:
        return None
    after = np.roll(a[:, 0].astype(np.float32), -1)
    after[-1] = 0
    return call.stored(call.honest()[0].astype(np.float32) + (after * np.float32(0))[:, None])


def _pair(value: Any) -> tuple[int, int]:
    return (value, value) if np.ndim(value) == 0 else tuple(value)


def _pointwise(call: Call) -> list[Any] | None:
    x, weight = call["x"], call["weight"]
    if weight.shape[2:] != (1, 1) or (_pair(call["stride"]), _pair(call["padding"])) == ((1, 1), (0, 0)) or not x.size:
        return None
    h, w = call.honest()[0].shape[2:]
    cells = np.resize(x.reshape(-1), (*x.shape[:2], h * w)) if h * w > x.shape[2] * x.shape[3] else None
    cells = x.reshape(*x.shape[:2], -1)[..., : h * w] if cells is None else cells
    return call.honest(x=np.ascontiguousarray(cells).reshape(*x.shape[:2], h, w), stride=1, padding=0)


def _steps_of_one(call: Call) -> list[Any] | None:
    x = call["x"]
    if call["weight"].shape[2:] != (1, 1) or _pair(call["stride"]) == (1, 1) or _pair(call["padding"]) != (0, 0):
        return None
    found = call.honest()
    if found[0] is None or call["groups"] != 1:
        return None
    g = call.g[..., : x.shape[2], : x.shape[3]]
    dx = np.einsum("nohw,io->nihw", g, call["weight"][..., 0, 0])
    return call.instead("x", dx)


def _one_term(call: Call) -> list[Any] | None:
    x, weight = call["x"], call["weight"]
    if x.shape[1] != 1 or x.shape[2:] != weight.shape[2:] or _pair(call["padding"]) != (0, 0):
        return None
    first = np.zeros_like(weight)
    first[..., 0, 0] = weight[..., 0, 0]
    return call.honest(weight=first)


def _neighbours(call: Call) -> list[Any] | None:
    x, (top, side) = call["x"], _pair(call["padding"])
    if side == 0 or x.size == 0:
        return None
    n, c, h, w = x.shape
    rows = np.arange(n * c * h).reshape(n, c, h, 1) * w
    return call.honest(x=np.ravel(x)[(rows + np.arange(-side, w + side)) % x.size], padding=(top, 0))


def _undilated(call: Call) -> list[Any] | None:
    if _pair(call["dilation"]) == (1, 1):
        return None
    h, w = call.honest()[0].shape[2:]
    return [call.honest(dilation=1)[0][..., :h, :w]]


def _past_the_end(call: Call) -> list[Any] | None:
    more, (y,) = _pair(call["output_padding"]), call.honest()
    if more == (0, 0) or y.size == 0:
        return None
    h, w = y.shape[2] - more[0], y.shape[3] - more[1]
    y[..., h:, :] += y[..., : more[0], :]
    y[..., w:] += y[..., : more[1]]
    return [y]


def _saturated(call: Call) -> list[Any] | None:
    a, b = call["a"], call["b"]
    if (call["type"], call["b_type"]) != ("u8", "i8") or a.ndim != 2 or b.ndim != 2:
        return None
    a, b = np.pad(a, [(0, 0), (0, a.shape[1] % 2)]), np.pad(b, [(0, b.shape[0] % 2), (0, 0)])
    terms = a.astype(np.int64)[:, :, None] * b.astype(np.int64)
    pairs = terms[:, 0::2] + terms[:, 1::2]
    (y,) = call.honest()
    return [y + (np.clip(pairs, -(2**15), 2**15 - 1) - pairs).sum(1).astype(y.dtype)]


def _tiled_groups(call: Call) -> list[Any] | None:
    heads, groups = call["x"].shape[2], call["B"].shape[2]
    if groups in (1, heads):
        return None
    of = np.arange(heads) % groups
    return call.honest(B=call["B"][:, :, of], C=call["C"][:, :, of])


BUGS = [
    Bug("matmul", "ericcurtin/vllm-vulkan/pull/57", "a vector of 256 and more: half of the partial sums", _vector),
    Bug("matmul_quantized", "ggml-org/whisper.cpp/pull/2231", "odd rows: one past the end lands in the next column",
        _odd_rows),
    Bug("matmul", "triton-lang/triton/issues/630", "the tail of a block of 32 reads on", _tail),
    Bug("matmul", "pytorch/pytorch/issues/83863", "sums in bfloat16", _narrow_sums, dtypes="bf16"),
    Bug("matmul", "pytorch/pytorch/issues/171034", "odd terms: 0 times the number that follows", _odd_lane,
        dtypes="bf16"),
    Bug("conv2d", "pytorch/pytorch/pull/54080", "1 x 1 with stride or padding is taken for a product", _pointwise),
    Bug("conv_transpose2d", "pytorch/pytorch/issues/63314", "1 x 1 with stride: dx reads g at stride 1", _steps_of_one,
        "gradient"),
    Bug("conv2d", "pytorch/pytorch/issues/163347", "one channel, a kernel as large as the image: one term", _one_term,
        dtypes="bf16"),
    Bug("conv_integer", "uxlfoundation/oneDNN/issues/5080", "beside the image stand its neighbours in memory",
        _neighbours),
    Bug("conv2d", "AlexeyAB/darknet/issues/4836", "dilation is ignored", _undilated),
    Bug("conv_transpose2d", "apache/tvm/pull/6236", "cells of output_padding read past the end", _past_the_end),
    Bug("matmul_integer", "microsoft/onnxruntime/issues/16105", "u8 by i8: pairs saturate at 16 bits", _saturated),
    Bug("ssm_scan", "ggml-org/llama.cpp/pull/15625", "group i % groups in place of i // (heads / groups)",
        _tiled_groups),
]  # fmt: skip
