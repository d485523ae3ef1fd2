"""paged_attention: each sequence's query over the keys and values of its own blocks of a cache.

Sequence s has context_lens[s] keys: the slots of the blocks block_tables[s, 0], block_tables[s, 1], ... one after the
other, the last block as far as it is in use. Its query stands at the last of them and sees all.
Shapes: query (n, heads, e), key_cache (blocks, slots, groups, e), value_cache (blocks, slots, groups, f), block_tables
(n, most) integers in [0, blocks), context_lens (n,) integers from 1 to most slots; heads a multiple of groups, head h
reads group h // (heads / groups); y (n, heads, f). scale is 1 / √e where None.
Slots that no sequence has in use may hold anything, NaN too.
Gradient: as of attention, added up where sequences share a block. None for block_tables and context_lens.
Source: Kwon et al., Efficient Memory Management for Large Language Model Serving with PagedAttention (2023),
section 4.1; flash_attn_with_kvcache of FlashAttention 2.5 (layout of the cache).
PyTorch: none. ONNX: none. ggml: none.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array
from opproof.reference_ops._attended import attended, attended_vjp, torch_attended
from opproof.reference_ops._index import added
from opproof.reference_ops._torch import widened

SIGNATURE = "(n<9,g*r,e),(b,s<33,g<9,e),(b,s,g,f),(n,p<9),(n)"
ANALYTIC = True
TRAITS = ("long sum", "multiplies")
REPEATS = "vjp"


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    most = shapes["block_tables"][1] * shapes["key_cache"][1]
    return {"block_tables": range(shapes["key_cache"][0]), "context_lens": range(1, most + 1)}


def _seen(tables: Array, lens: Array, slots: int) -> NDArray[np.bool_]:
    """Which keys of each sequence are in use: (n, 1, 1, most slots)."""
    return np.arange(tables.shape[1] * slots) < lens[:, None, None, None]


def _paged(cache: Array, tables: Array, seen: NDArray[np.bool_]) -> Array:
    """(n, groups, most slots, e), zeros where a slot is not in use."""
    slots = tables.shape[1] * cache.shape[1]
    blocks = np.swapaxes(np.reshape(cache[tables], (len(tables), slots, *cache.shape[2:])), 1, 2)
    return np.where(np.swapaxes(seen, -1, -2), blocks, 0)


def _unpaged(dx: Array, cache: Array, tables: Array) -> Array:
    """The transpose of `_paged`."""
    blocks = np.reshape(np.swapaxes(dx, 1, 2), (*tables.shape, *cache.shape[1:]))
    return added(cache.shape, tables, blocks)


def forward(
    query: Array,
    key_cache: Array,
    value_cache: Array,
    block_tables: Array,
    context_lens: Array,
    *,
    scale: float | None = None,
) -> Array:
    seen = _seen(block_tables, context_lens, key_cache.shape[1])
    k, v = (_paged(cache, block_tables, seen) for cache in (key_cache, value_cache))
    return attended(query[:, :, None], k, v, seen, scale)[:, :, 0]


def hidden(
    query: Array,
    key_cache: Array,
    value_cache: Array,
    block_tables: Array,
    context_lens: Array,
    *,
    scale: float | None = None,
) -> tuple[Array | None, ...]:
    blocks, slots = key_cache.shape[:2]
    seen = np.reshape(_seen(block_tables, context_lens, slots), (*block_tables.shape, slots))
    used = np.zeros((blocks, slots), dtype=bool)
    np.logical_or.at(used, block_tables, seen)
    unused = ~used[:, :, None, None]
    return None, *(np.broadcast_to(unused, cache.shape) for cache in (key_cache, value_cache)), None, None


def vjp(
    g: Array,
    y: Array,
    query: Array,
    key_cache: Array,
    value_cache: Array,
    block_tables: Array,
    context_lens: Array,
    *,
    scale: float | None = None,
) -> tuple[Array, Array, Array, None, None]:
    seen = _seen(block_tables, context_lens, key_cache.shape[1])
    k, v = (_paged(cache, block_tables, seen) for cache in (key_cache, value_cache))
    dy, output, q = g[:, :, None], y[:, :, None], query[:, :, None]
    dq, dk, dv = attended_vjp(dy, output, q, k, v, seen, scale)
    return dq[:, :, 0], _unpaged(dk, key_cache, block_tables), _unpaged(dv, value_cache, block_tables), None, None


def torch(
    torch: Any,
    query: Any,
    key_cache: Any,
    value_cache: Any,
    block_tables: Any,
    context_lens: Any,
    *,
    scale: float | None = None,
) -> Any:
    slots = key_cache.shape[1]
    places = torch.arange(block_tables.shape[1] * slots)
    seen = places < context_lens[:, None]
    # What is not in use is read from the sequence's first slot, which is, and masked.
    at = torch.where(seen, places, 0)
    blocks = block_tables.gather(1, at // slots)
    # Gradients of slots that several sequences read are added up in float32.
    q, *caches = widened(torch, query, key_cache, value_cache)
    k, v = (cache[blocks, at % slots].transpose(1, 2) for cache in caches)
    return torch_attended(torch, q[:, :, None], k, v, seen[:, None, None], scale)[:, :, 0].to(query.dtype)
