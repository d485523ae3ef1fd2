"""varlen_attention: attention of several sequences of other lengths, one after the other in one tensor.

Sequence s has the queries from cu_seqlens_q[s] to cu_seqlens_q[s + 1] and the keys from cu_seqlens_k[s] to
cu_seqlens_k[s + 1], and sees no others. Where causal its last query stands at its last key (bottom-right): query i
of q sees the keys up to i + k - q.
Shapes: query (q, heads, e), key (k, groups, e), value (k, groups, f), all sequences together; cu_seqlens_q and
cu_seqlens_k (sequences + 1,) integers that rise from 0 to q, and to k; heads a multiple of groups; y (q, heads, f).
scale is 1 / √e where None. A query that sees no key gives zeros.
Gradient: as of attention, sequence by sequence. None for cu_seqlens_q and cu_seqlens_k.
Source: Dao, FlashAttention-2 (2023); flash_attn_varlen_func.
PyTorch: none (torch.nn.attention.varlen, CUDA only). ONNX: none. ggml: none.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array
from opproof.reference_ops._attended import attended, attended_vjp, torch_attended

ANALYTIC = True
TRAITS = ("long sum", "multiplies")


def _cuts(total: int) -> Callable[..., NDArray[np.int64]]:
    """Draws where sequences begin: numbers that rise from 0 to `total`, by steps between a quarter and twice the mean.

    Queries and keys that are cut anywhere would leave most queries without a key.
    """

    def draw(bits: Callable[[int], NDArray[np.uint64]], shape: tuple[int, ...]) -> NDArray[np.int64]:
        count = max(shape[0] - 1, 1)
        before = (bits(count - 1) >> np.uint64(54)).astype(np.int64)  # of 1024, three quarters of a step at most
        inside = (4096 * np.arange(1, count) - 3 * before) * total // (4096 * count)
        return np.concatenate([[0], inside, [total]])[: shape[0]]

    return draw


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"cu_seqlens_q": _cuts(shapes["query"][0]), "cu_seqlens_k": _cuts(shapes["key"][0])}


def _seen(query: Array, key: Array, cuts_q: Array, cuts_k: Array, causal: bool) -> Array:
    """(q, k): whether both are of one sequence, and the key is not ahead."""
    i, j = np.arange(query.shape[0]), np.arange(key.shape[0])
    of_query, of_key = (np.searchsorted(c, at, side="right") - 1 for c, at in ((cuts_q, i), (cuts_k, j)))
    seen = of_query[:, None] == of_key
    if not causal:
        return seen  # type: ignore[no-any-return]
    last_query, last_key = cuts_q[1:][of_query], cuts_k[1:][of_key]
    return seen & ((j - last_key) <= (i - last_query)[:, None])  # type: ignore[no-any-return]


def _by_head(*xs: Array) -> list[Array]:
    return [np.swapaxes(x, 0, 1) for x in xs]


def forward(
    query: Array,
    key: Array,
    value: Array,
    cu_seqlens_q: Array,
    cu_seqlens_k: Array,
    *,
    causal: bool = False,
    scale: float | None = None,
) -> Array:
    seen = _seen(query, key, cu_seqlens_q, cu_seqlens_k, causal)
    q, k, v = _by_head(query, key, value)
    return np.swapaxes(attended(q, k, v, seen, scale), 0, 1)


def conventions(
    query: Array,
    key: Array,
    value: Array,
    cu_seqlens_q: Array,
    cu_seqlens_k: Array,
    *,
    causal: bool = False,
    scale: float | None = None,
) -> Iterator[Array]:
    y = forward(query, key, value, cu_seqlens_q, cu_seqlens_k, causal=causal, scale=scale)
    none_seen = ~np.any(_seen(query, key, cu_seqlens_q, cu_seqlens_k, causal), axis=-1)
    yield np.where(none_seen[:, None, None], np.nan, y)


def vjp(
    g: Array,
    y: Array,
    query: Array,
    key: Array,
    value: Array,
    cu_seqlens_q: Array,
    cu_seqlens_k: Array,
    *,
    causal: bool = False,
    scale: float | None = None,
) -> tuple[Array, Array, Array, None, None]:
    seen = _seen(query, key, cu_seqlens_q, cu_seqlens_k, causal)
    dy, output, q, k, v = _by_head(g, y, query, key, value)
    dq, dk, dv = _by_head(*attended_vjp(dy, output, q, k, v, seen, scale))
    return dq, dk, dv, None, None


def torch(
    torch: Any,
    query: Any,
    key: Any,
    value: Any,
    cu_seqlens_q: Any,
    cu_seqlens_k: Any,
    *,
    causal: bool = False,
    scale: float | None = None,
) -> Any:
    # Sequence by sequence, so that none can see another.
    parts = [query.new_zeros(0, query.shape[1], value.shape[2])]
    cuts_q, cuts_k = cu_seqlens_q.tolist(), cu_seqlens_k.tolist()
    for a, b, c, d in zip(cuts_q, cuts_q[1:], cuts_k, cuts_k[1:], strict=False):
        if a < b and c < d:
            q, k, v = (x.transpose(0, 1)[None] for x in (query[a:b], key[c:d], value[c:d]))
            seen = torch.ones(b - a, d - c, dtype=torch.bool)
            seen = seen.tril((d - c) - (b - a)) if causal else seen
            parts.append(torch_attended(torch, q, k, v, seen, scale)[0].transpose(0, 1))
        elif a < b:
            parts.append(query.new_zeros(b - a, query.shape[1], value.shape[2]))
    return torch.cat(parts)
