"""Gradients of 2024 to 2026 that were wrong for some shapes, parameters or inputs, where the values were right.

They were chosen before any was asked, from threads that nothing here had met.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from bug import Bug, Call


def _pair(value: Any) -> tuple[int, ...]:
    return (value, value) if np.ndim(value) == 0 else tuple(value)


def _one(value: Any) -> int:
    return int(value) if np.ndim(value) == 0 else int(value[0])


def _stores_of_ignored_rows(call: Call) -> list[Any] | None:
    """An ignored row stores its 0 where its class would lie: in another row, if its number is negative or large."""
    x, target, ignored = call["x"], call["target"], call["ignore_index"]
    found = call.honest()
    if found[0] is None or x.ndim < 2 or 0 <= ignored < x.shape[1]:
        return None
    (n, classes), inner = x.shape[:2], int(np.prod(x.shape[2:], dtype=int))
    rows = np.arange(n).reshape(-1, 1) * classes * inner + np.arange(inner)
    at = (rows + ignored * inner)[target.reshape(n, inner) == ignored]
    dx = found[0].copy()
    dx.reshape(-1)[at[(at >= 0) & (at < x.size)]] = 0
    return [dx, *found[1:]]


def _mean_for_max(call: Call) -> list[Any] | None:
    return call.honest(mode="mean") if call["mode"] == "max" else None


def _padding_counts(call: Call) -> list[Any] | None:
    """The gradient of the weights is not 0 where the padding is read."""
    weights, pad = call["per_sample_weights"], call["padding_idx"]
    if weights is None or pad is None or call["mode"] != "sum" or not call.needs[2]:
        return None
    rows = call["weight"][call["indices"]].astype(np.float32)
    return call.instead("per_sample_weights", (rows * call.g.astype(np.float32)[:, None]).sum(2))


def _as_one_group(call: Call) -> list[Any] | None:
    """With a stride, all groups are taken for one: channels meet the weights of others."""
    if call["groups"] == 1 or max(_pair(call["stride"])) == 1 or not call.needs[0]:
        return None
    return call.instead("x", call.honest(weight=np.roll(call["weight"], 1, axis=0))[0])


def _longer_than_its_input(call: Call) -> list[Any] | None:
    """Cells of output_padding make the gradient longer than its input, if a window fits there."""
    if _one(call["output_padding"]) < _one(call["stride"]) or not call.needs[0]:
        return None
    raise RuntimeError("the gradient has another shape than its tensor")


def _left_over(call: Call) -> list[Any] | None:
    """Two cells and more that no window reaches are forgotten: the gradient is shorter than its input."""
    kernel, padding = call["weight"].shape[-1], call["padding"]
    if isinstance(padding, str) or not call.needs[0]:
        return None
    reach = _one(call["dilation"]) * (kernel - 1) + 1
    if (call["x"].shape[-1] + 2 * _one(padding) - reach) % _one(call["stride"]) < 2:
        return None
    raise RuntimeError("the gradient has another shape than its tensor")


def _swapped_steps(call: Call) -> list[Any] | None:
    if _pair(call["stride"]) == _pair(call["dilation"]) or not call.needs[0]:
        return None
    raise RuntimeError("the gradient has another shape than its tensor")


def _gathered(call: Call) -> list[Any] | None:
    """The cotangent is read at the places of the order, not written to them."""
    x, g, dim, k = call["x"], call.g, call["dim"], call["k"]
    if x.ndim == 0 or x.size == 0 or not call["largest"]:
        return None
    n = x.shape[dim]
    behind = np.zeros((*np.moveaxis(x, dim, -1).shape[:-1], n), g.dtype)
    behind[..., n - k :] = np.moveaxis(g, dim, -1)[..., ::-1]
    order = np.argsort(np.moveaxis(x, dim, -1), axis=-1, kind="stable")
    return [np.moveaxis(np.take_along_axis(behind, order, -1), -1, dim).copy()]


def _log_of_zero(call: Call) -> list[Any] | None:
    """Of a base of 0 the exponent's gradient is 0 times the logarithm."""
    a, b = call["a"], call["b"]
    if b is None or a.shape != b.shape or not call.needs[1]:
        return None
    db = call.honest()[1]
    return call.instead("b", np.where(a == 0, np.nan, db))


def _channels_of_keys(call: Call) -> list[Any] | None:
    """Of wider values only as many channels count as a query has."""
    width, value = call["query"].shape[-1], call["value"]
    if width >= value.shape[-1] or not call.needs[0]:
        return None
    narrow = replace(call, cotangents=[call.g[..., :width].copy()])
    return call.instead("query", narrow.honest(value=value[..., :width].copy())[0])


def _first_column(call: Call) -> list[Any] | None:
    """Where an image is taller than wide, the first column that counts is reckoned with its height."""
    (h, w), (rows, columns) = call["x"].shape[2:], call["size"]
    if h <= w or call["align_corners"] or rows % h or columns % w or call["x"].size == 0:
        return None
    dx, at = call.honest()[0], (2 * np.arange(w) - 1) * columns
    off = np.maximum(-((h - at) // (2 * w)), 0) - np.maximum(-((w - at) // (2 * w)), 0)
    for shift in np.unique(off[off != 0]):
        moved = np.roll(call.g, -shift, axis=-1)
        moved[..., columns + shift :] = 0
        dx[..., off == shift] = replace(call, cotangents=[moved]).honest()[0][..., off == shift]
    return [dx]


def _planes(call: Call) -> list[Any] | None:
    if call["x"].ndim < 4 or call["x"].size == 0:
        return None
    raise RuntimeError(f"shape '{call['x'].shape}' is invalid for an input of another size")


def _sum_in_f16(call: Call) -> list[Any] | None:
    """The cotangents of a row are added up to a float16, which may be infinite."""
    g = call.g
    x, dim = call["x"], call["dim"]
    if x.ndim == 0 or x.size == 0:
        return None
    total = g.astype(np.float32).sum(dim, keepdims=True).astype(np.float16).astype(np.float32)
    if np.isfinite(total).all():
        return None
    share = np.exp(call.op.forward(x.astype(np.float32), dim=dim)).astype(np.float16).astype(np.float32)
    return call.stored(np.where(np.isfinite(total), call.honest()[0], g - share * total))


def _unscaled(call: Call) -> list[Any] | None:
    if call["scale"] == 1 or not call.needs[2]:
        return None
    return call.instead("q", call.honest()[2].astype(np.float32) / np.float32(call["scale"]))


_GEMS, _MLX = "flagos-ai/FlagGems", "ml-explore/mlx"

BUGS = [
    Bug("nll_loss", f"{_GEMS}/issues/5025", "an ignored row stores 0 at its index, in another row",
        _stores_of_ignored_rows, "gradient"),
    Bug("embedding_bag", f"{_GEMS}/issues/5220", "of a maximum, the gradient of a mean", _mean_for_max, "gradient"),
    Bug("embedding_bag", f"{_GEMS}/pull/3683", "the weights of padding have a gradient", _padding_counts, "gradient"),
    Bug("conv2d", f"{_MLX}/pull/3800", "groups and a stride: dx of one group", _as_one_group, "gradient"),
    Bug("conv_transpose1d", "tracel-ai/burn/pull/4916", "output_padding as large as the stride: dx is too long",
        _longer_than_its_input, "gradient"),
    Bug("conv1d", "tracel-ai/burn/pull/4806", "two cells that no window reaches: dx is too short", _left_over,
        "gradient"),
    Bug("conv_transpose2d", "huggingface/candle/pull/2337", "stride and dilation are exchanged: dx has no shape",
        _swapped_steps, "gradient"),
    Bug("topk", f"{_MLX}/issues/1428", "the cotangent is gathered, not scattered", _gathered, "gradient"),
    Bug("pow", f"{_MLX}/issues/628", "of a base of 0 the exponent's is NaN", _log_of_zero, "gradient"),
    Bug("varlen_attention", "XunhaoLai/native-sparse-attention-triton/issues/27",
        "wider values than queries: dquery without their last channels", _channels_of_keys, "gradient"),
    Bug("upsample_bilinear", "intel/torch-xpu-ops/pull/4380", "taller than wide, whole factors: columns of others",
        _first_column, "gradient"),
    Bug("group_norm", "linkedin/Liger-Kernel/pull/1376", "four axes and more: it dies", _planes, "gradient"),
    Bug("log_softmax", "jax-ml/jax/issues/40409", "cotangents add up to more than float16 holds: NaN", _sum_in_f16,
        "gradient", "f16"),
    Bug("gated_linear_attn", "fla-org/flash-linear-attention/issues/47", "dq is not scaled", _unscaled, "gradient"),
]  # fmt: skip
