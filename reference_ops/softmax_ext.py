"""softmax_ext: softmax(scale x + slope mask) over the last axis, masked scores left out, with one sink per head.

Shapes: x (..., heads, q, k); mask (floats, added) and keep (integers, 0 leaves the score out) broadcast to x;
sinks (heads,), a score that takes its share of each row's sum and has no column; y as x.
slope is ALiBi's, 2^(-max_bias (h + 1) / heads), or 1 where max_bias is 0. A row that keep leaves empty gives zeros.
Gradient: from the saved output, s = y (g - sum(g y)); dx = scale s, dmask = slope s summed over the axes along
which it was broadcast, dsinks = -sum(p g y), p the sink's probability. None for keep.
Source: ggml.h, ggml_soft_max_ext and ggml_soft_max_add_sinks; Press, Smith, Lewis, Train Short, Test Long (2022).
PyTorch: none (torch.softmax of the sum). ONNX: none. ggml: ggml_soft_max_ext (keep: -inf in its mask).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import unbroadcast, unseen
from opproof.reference_ops._attention import slopes, softmax, softmax_vjp, torch_slopes, torch_softmax
from opproof.reference_ops._torch import widened

SIGNATURE = "(...,h,q,k),(q,k)?,(h)?,(q,k)?"
ANALYTIC = True
TRAITS = ("rowwise", "statistic", "shares", "long sum")
IN_PLACE = ("x",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"keep": range(2)}


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    batch, heads, rows = (dict.fromkeys(("x", "mask", "keep", "y"), axis) for axis in (-4, -3, -2))
    # ALiBi's slope depends on the head's number.
    return [*[batch] * (len(shapes["x"]) > 3), *[{**heads, "sinks": -1}] * (params.get("max_bias", 0) <= 0), rows]


def _scores(x: Array, mask: Array | None, keep: Array | None, scale: float, max_bias: float) -> Array:
    scores = x * scale
    if mask is not None:
        scores = scores + (slopes(x.shape[-3], max_bias, x) * mask if max_bias > 0 else mask)
    return scores if keep is None else np.where(keep != 0, scores, -np.inf)


def forward(
    x: Array,
    mask: Array | None = None,
    sinks: Array | None = None,
    keep: Array | None = None,
    *,
    scale: float = 1.0,
    max_bias: float = 0.0,
) -> Array:
    return softmax(_scores(x, mask, keep, scale, max_bias), sinks)[0]


def conventions(
    x: Array,
    mask: Array | None = None,
    sinks: Array | None = None,
    keep: Array | None = None,
    *,
    scale: float = 1.0,
    max_bias: float = 0.0,
) -> Iterator[Array]:
    if sinks is None:  # a row that is masked in full
        scores = _scores(x, mask, keep, scale, max_bias)
        yield np.where(np.all(scores == -np.inf, axis=-1, keepdims=True), np.nan, softmax(scores)[0])


def hidden(
    x: Array,
    mask: Array | None = None,
    sinks: Array | None = None,
    keep: Array | None = None,
    *,
    scale: float = 1.0,
    max_bias: float = 0.0,
) -> tuple[Array | None, ...]:
    if keep is None:
        return None, None, None, None
    left_out = np.broadcast_to(keep == 0, x.shape)
    return left_out, None if mask is None else unseen(left_out, mask.shape), None, None


def vjp(
    g: Array,
    y: Array,
    x: Array,
    mask: Array | None = None,
    sinks: Array | None = None,
    keep: Array | None = None,
    *,
    scale: float = 1.0,
    max_bias: float = 0.0,
) -> tuple[Array, Array | None, Array | None, None]:
    s = softmax_vjp(g, y)
    dmask = dsinks = None
    if mask is not None:
        dmask = unbroadcast(slopes(x.shape[-3], max_bias, x) * s if max_bias > 0 else s, mask.shape)
    if sinks is not None:
        _, drained = softmax(_scores(x, mask, keep, scale, max_bias), sinks)
        along = -np.sum(drained * np.sum(g * y, axis=-1, keepdims=True), axis=(-2, -1))
        dsinks = unbroadcast(along, sinks.shape)
    return scale * s, dmask, dsinks, None


def torch(
    torch: Any,
    x: Any,
    mask: Any = None,
    sinks: Any = None,
    keep: Any = None,
    *,
    scale: float = 1.0,
    max_bias: float = 0.0,
) -> Any:
    scores, bias, drains = widened(torch, x, mask, sinks)
    scores = scores * scale
    if mask is not None:
        scores = scores + (bias * torch_slopes(torch, x.shape[-3], max_bias, scores) if max_bias > 0 else bias)
    if keep is not None:
        scores = scores.masked_fill(keep == 0, -torch.inf)
    return torch_softmax(torch, scores, drains).to(x.dtype)
