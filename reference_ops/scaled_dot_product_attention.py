"""scaled_dot_product_attention: softmax(scale q kᵀ + mask) v, causal or masked, heads in groups, capped, with sinks.

Shapes: query (n, heads, q, e), key (n, groups, k, e), value (n, groups, k, f); y (n, heads, q, f). With enable_gqa,
heads is a multiple of groups and head h reads group h // (heads / groups). attn_mask (floats, added, times ALiBi's
slope where max_bias > 0) and keep (integers, 0 leaves the score out) broadcast to (n, heads, q, k); sinks (heads,).
Scores are scaled (by 1 / sqrt(e) where scale is None), capped to softcap tanh(s / softcap) where softcap > 0, masked.
is_causal: query i sees the keys 0 to i, whatever q and k are. A row that sees nothing gives zeros.
Gradient: with P the probabilities: dv = Pᵀ g, dS = P (g vᵀ - sum(g y)) from the saved output, then through the
cap, dq = scale dS k, dk = scale dSᵀ q, summed over the heads of a group; dattn_mask = slope dS summed over the axes
along which it was broadcast; dsinks = -sum(p g y), p the sink's probability. None for keep.
Source: Vaswani et al., Attention Is All You Need (2017), equation 1; Dao et al., FlashAttention (2022), appendix B.
PyTorch: torch.nn.functional.scaled_dot_product_attention. ONNX: Attention. ggml: ggml_flash_attn_ext.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import unbroadcast, unseen
from opproof.reference_ops._attention import recomputed_softmax, slopes, softmax, torch_slopes, torch_softmax
from opproof.reference_ops._shift import through_the_largest
from opproof.reference_ops._torch import widened

SIGNATURE = "(n,g*r,q,e<300),(n,g<17,k,e),(n,g,k,f<300),(q,k)?,(q,k)?,(g*r)?; enable_gqa=r>1"
ANALYTIC = True
TRAITS = ("statistic", "shares", "long sum", "multiplies")


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"keep": range(2)}


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    tensors = ("query", "key", "value", "attn_mask", "keep", "y")
    batch, heads = (dict.fromkeys(tensors, axis) for axis in (-4, -3))
    rows = dict.fromkeys(("query", "attn_mask", "keep", "y"), -2)
    # ALiBi's slope depends on the head's number, a causal mask on the row's.
    return [batch, *[{**heads, "sinks": -1}] * (params["max_bias"] <= 0), *[rows] * (not params["is_causal"])]


def _t(m: Array) -> Array:
    return np.swapaxes(m, -1, -2)


def _capped(query: Array, key: Array, scale: float | None, softcap: float) -> tuple[Array, Array | float]:
    """Scores before the mask, and the derivative of the cap."""
    scores = np.matmul(query, _t(key)) * (1 / math.sqrt(max(query.shape[-1], 1)) if scale is None else scale)
    if softcap <= 0:
        return scores, 1.0
    t = np.tanh(scores / softcap)
    return softcap * t, 1 - t * t


def _masked(
    scores: Array, attn_mask: Array | None, keep: Array | None, is_causal: bool, max_bias: float
) -> tuple[Array, Array | float]:
    """Scores after the mask, and the slope that multiplied it."""
    slope: Array | float = slopes(scores.shape[-3], max_bias, scores) if max_bias > 0 else 1.0
    scores = scores if attn_mask is None else scores + slope * attn_mask
    scores = scores if keep is None else np.where(keep != 0, scores, -np.inf)
    q, k = scores.shape[-2:]
    return np.where(np.arange(k) <= np.arange(q)[:, None], scores, -np.inf) if is_causal else scores, slope


def _grouped(x: Array, heads: int, enable_gqa: bool) -> Array:
    """Each group's keys or values once for every head that reads them."""
    return np.repeat(x, heads // max(x.shape[-3], 1), axis=-3) if enable_gqa else x


def _gathered(dx: Array, shape: tuple[int, ...]) -> Array:
    """The transpose of `_grouped`."""
    groups = shape[-3]
    split = np.reshape(dx, (*dx.shape[:-3], groups, dx.shape[-3] // max(groups, 1), *dx.shape[-2:]))
    return np.sum(split, axis=-3)  # type: ignore[no-any-return]


def forward(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    keep: Array | None = None,
    sinks: Array | None = None,
    *,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    softcap: float = 0.0,
    max_bias: float = 0.0,
) -> Array:
    k, v = (_grouped(x, query.shape[-3], enable_gqa) for x in (key, value))
    scores, _ = _masked(_capped(query, k, scale, softcap)[0], attn_mask, keep, is_causal, max_bias)
    return np.matmul(softmax(scores, sinks)[0], v)  # type: ignore[no-any-return]


def conventions(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    keep: Array | None = None,
    sinks: Array | None = None,
    *,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    softcap: float = 0.0,
    max_bias: float = 0.0,
) -> Iterator[Array]:
    if sinks is None:  # a row that is masked in full
        k, v = (_grouped(x, query.shape[-3], enable_gqa) for x in (key, value))
        scores, _ = _masked(_capped(query, k, scale, softcap)[0], attn_mask, keep, is_causal, max_bias)
        y = np.matmul(softmax(scores)[0], v)
        yield np.where(np.all(scores == -np.inf, axis=-1, keepdims=True), np.nan, y)


def hidden(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    keep: Array | None = None,
    sinks: Array | None = None,
    *,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    softcap: float = 0.0,
    max_bias: float = 0.0,
) -> tuple[Array | None, ...]:
    q, n = query.shape[-2], key.shape[-2]
    left_out = np.zeros((*query.shape[:-1], n), dtype=bool)
    left_out = left_out if keep is None else left_out | (keep == 0)
    left_out = left_out | (np.arange(n) > np.arange(q)[:, None]) if is_causal else left_out
    groups = np.reshape(left_out, (*key.shape[:-2], -1, n)) if key.shape[:-2] else np.reshape(left_out, (-1, n))
    nobody = np.all(groups, axis=-2)[..., None]  # keys that no query of the group sees
    none_seen = np.all(left_out, axis=-1)[..., None]  # queries that see no key
    mask = None if attn_mask is None else unseen(left_out, attn_mask.shape)
    seen = [np.broadcast_to(m, x.shape) for m, x in ((none_seen, query), (nobody, key), (nobody, value))]
    return (*seen, mask, None, None)


def vjp(
    g: Array,
    y: Array,
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    keep: Array | None = None,
    sinks: Array | None = None,
    *,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    softcap: float = 0.0,
    max_bias: float = 0.0,
) -> tuple[Array, Array, Array, Array | None, None, Array | None]:
    heads = query.shape[-3]
    k, v = (_grouped(x, heads, enable_gqa) for x in (key, value))
    (capped, dcap), (again, _) = (_capped(query, k, scale, softcap) for _ in range(2))
    scores, slope = _masked(capped, attn_mask, keep, is_causal, max_bias)
    p, drained = recomputed_softmax(scores, _masked(again, attn_mask, keep, is_causal, max_bias)[0], sinks)
    along = np.sum(g * y, axis=-1, keepdims=True)
    dmasked = through_the_largest(p * (np.matmul(g, _t(v)) - along), p, -1)
    dscores = dmasked * dcap * (1 / math.sqrt(max(query.shape[-1], 1)) if scale is None else scale)
    dmask = None if attn_mask is None else unbroadcast(slope * dmasked, attn_mask.shape)
    dsinks = None if sinks is None else unbroadcast(-np.sum(drained * along, axis=(-2, -1)), sinks.shape)
    dkey = _gathered(np.matmul(_t(dscores), query), key.shape)
    return np.matmul(dscores, k), dkey, _gathered(np.matmul(_t(p), g), value.shape), dmask, None, dsinks


def torch(
    torch: Any,
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    keep: Any = None,
    sinks: Any = None,
    *,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    softcap: float = 0.0,
    max_bias: float = 0.0,
) -> Any:
    if sinks is None and softcap <= 0 and max_bias <= 0 and (not is_causal or (attn_mask is None and keep is None)):
        mask = None if keep is None else keep != 0
        if attn_mask is not None:
            mask = attn_mask if mask is None else torch.where(mask, attn_mask, -torch.inf)
        sdpa = torch.nn.functional.scaled_dot_product_attention
        return sdpa(query, key, value, mask, is_causal=is_causal, scale=scale, enable_gqa=enable_gqa)
    q, k, v, bias, drains = widened(torch, query, key, value, attn_mask, sinks)
    if enable_gqa:
        k, v = (x.repeat_interleave(q.shape[-3] // x.shape[-3], dim=-3) for x in (k, v))
    scores = torch.einsum("...qe,...ke->...qk", q, k) * (q.shape[-1] ** -0.5 if scale is None else scale)
    scores = softcap * torch.tanh(scores / softcap) if softcap > 0 else scores
    if bias is not None:
        scores = scores + (bias * torch_slopes(torch, q.shape[-3], max_bias, q) if max_bias > 0 else bias)
    if keep is not None:
        scores = scores.masked_fill(keep == 0, -torch.inf)
    if is_causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1), -torch.inf)
    return torch.einsum("...qk,...kf->...qf", torch_softmax(torch, scores, drains), v).to(query.dtype)
