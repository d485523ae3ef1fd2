"""sliding_window_attention: softmax(scale q kᵀ) v over the keys of a window that ends with the query's own.

The last query stands at the last key (bottom-right causal): query i of q stands at p = i + k - q and sees the keys
p - left to p + right, all before it where left is -1, all behind it where right is -1. So left = -1, right = 0 is
causal attention over a cache of k - q keys, and left = w - 1 a window of w.
Shapes: query (n, heads, q, e), key (n, groups, k, e), value (n, groups, k, f), heads a multiple of groups; head h reads
group h // (heads / groups); y (n, heads, q, f). scale is 1 / √e where None. A query that sees no key gives zeros.
Gradient: with P the probabilities: dvalue = Pᵀ g, dS = P (g vᵀ - sum(g y)), dquery = scale dS k, dkey = scale dSᵀ q,
both of a group summed over its heads.
Source: Beltagy et al., Longformer (2020), section 3.1; flash_attn_func of FlashAttention 2.1 (window_size).
PyTorch: none (torch.nn.functional.scaled_dot_product_attention with a mask). ONNX: Attention (without window).
ggml: none (ggml_flash_attn_ext with a mask).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._attended import attended, attended_vjp, torch_attended

SIGNATURE = "(n,g*r,q,e<300),(n,g<17,k,e),(n,g,k,f<300)"
ANALYTIC = True
TRAITS = ("long sum", "multiplies")


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return [dict.fromkeys(("query", "key", "value", "y"), -4)]


def _seen(query: Array, key: Array, left: int, right: int) -> Array:
    q, k = query.shape[-2], key.shape[-2]
    ahead = np.arange(k) - (np.arange(q)[:, None] + k - q)
    seen = np.ones((q, k), dtype=bool)
    seen = seen & (ahead >= -left) if left >= 0 else seen
    return seen & (ahead <= right) if right >= 0 else seen


def forward(
    query: Array, key: Array, value: Array, *, left: int = -1, right: int = 0, scale: float | None = None
) -> Array:
    return attended(query, key, value, _seen(query, key, left, right), scale)


def conventions(
    query: Array, key: Array, value: Array, *, left: int = -1, right: int = 0, scale: float | None = None
) -> Iterator[Array]:
    none_seen = ~np.any(_seen(query, key, left, right), axis=-1)[:, None]
    yield np.where(none_seen, np.nan, forward(query, key, value, left=left, right=right, scale=scale))


def vjp(
    g: Array,
    y: Array,
    query: Array,
    key: Array,
    value: Array,
    *,
    left: int = -1,
    right: int = 0,
    scale: float | None = None,
) -> tuple[Array, Array, Array]:
    return attended_vjp(g, y, query, key, value, _seen(query, key, left, right), scale)


def torch(
    torch: Any, query: Any, key: Any, value: Any, *, left: int = -1, right: int = 0, scale: float | None = None
) -> Any:
    q, k = query.shape[-2], key.shape[-2]
    seen = torch.ones(q, k, dtype=torch.bool)
    seen = seen.triu(k - q - left) if left >= 0 else seen
    seen = seen.tril(k - q + right) if right >= 0 else seen
    return torch_attended(torch, query, key, value, seen, scale)
